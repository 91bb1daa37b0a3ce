/** Removes a directory in which nothing is left; one that holds anything stays. */
import { rmdirSync } from "node:fs";
import { errnoOf } from "../../../platform/reeve-error.ts";

export function removeEmptyDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
  }
}
