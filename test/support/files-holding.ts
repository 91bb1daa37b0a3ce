/** Which files below a directory hold one of these texts, while others write there. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../src/platform/reeve-error.ts";

export function filesHolding(directory: string, texts: readonly string[]): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = bytesOf(path);
      return texts.some((text) => bytes.includes(text));
    });
}

/** None of what is no file, or was renamed just now. */
function bytesOf(path: string): Buffer {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : Buffer.alloc(0);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
