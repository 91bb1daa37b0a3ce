/** What a file holds, or nothing while it is not there. */
import { readFileSync } from "node:fs";

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
