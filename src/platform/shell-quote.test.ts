/** One quoter for every shell line that Reeve writes, read back by a real shell. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWords } from "./shell-quote.ts";

test("a shell reads back what was quoted", () => {
  const words = ["", "it's", "a b", "$(id) `id` $HOME", "\\", "'''", "a\nb", "*?~!#", "é"];
  const read = execFileSync("sh", ["-c", `printf '%s\\0' ${shellWords(words)}`], { encoding: "utf8" });
  expect(read.split("\0").slice(0, -1)).toEqual(words);
});
