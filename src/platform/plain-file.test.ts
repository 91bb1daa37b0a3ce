/** One reader of small files: whatever stands at the path is read whole, refused with a sentence, or not there. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { plant, plantable } from "../../test/support/plant.ts";
import { readPlainFile, readPlainFileIfFit } from "./plain-file.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-plain-"));
  path = join(directory, "file");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test.each([...plantable])("a %s in its place is refused and left where it is", (kind) => {
  plant(path, kind);
  if (kind === "dangling link") expect(readPlainFile(path, 100)).toBeNull();
  else if (kind === "link") expect(readPlainFile(path, 1_000)).toBe(readFileSync("/etc/hostname", "utf8"));
  else expect(() => readPlainFile(path, 100)).toThrow("is not a regular file");
  expect(() => readPlainFile(path, 1_000, "refused")).toThrow("is not a regular file");
  expect(readdirSync(directory)).toEqual(["file"]);
});

test("the user's file may be a link, and may not be larger than what is asked for", () => {
  writeFileSync(join(directory, "elsewhere"), "text");
  symlinkSync("elsewhere", path);
  expect(readPlainFile(path, 100)).toBe("text");
  expect(() => readPlainFile(path, 3)).toThrow("has 4 bytes, more than 3");
  expect(readPlainFileIfFit(path, 3)).toBeNull();
  expect(readPlainFile(join(directory, "none"), 100)).toBeNull();
  expect(readPlainFile(join(directory, "none"), 100, "refused")).toBeNull();
});
