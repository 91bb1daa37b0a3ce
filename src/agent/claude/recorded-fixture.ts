/** Records of a real run, in test/golden/claude. */
import { readFileSync } from "node:fs";

export function recorded(name: string): readonly string[] {
  const path = new URL(`../../../test/golden/claude/2.1.325/${name}`, import.meta.url);
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
