/** The user's own small files (an agent's settings, its log-in), as adapters are given them to read. */
import { readPlainFileIfFit } from "../../platform/plain-file.ts";

/** Larger ones are not what an agent keeps its settings in. */
const LARGEST_BYTES = 1_048_576;

/** Its text, or null where there is none that can be read. */
export function readUserFile(path: string): string | null {
  return readPlainFileIfFit(path, LARGEST_BYTES);
}
