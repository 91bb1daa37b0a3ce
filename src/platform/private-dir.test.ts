import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensurePrivateDir, notMadeSentence } from "./private-dir.ts";
import { ReeveError } from "./reeve-error.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-private-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("makes it and its parents for the owner only, and accepts it the second time", () => {
  const path = join(directory, "one", "two");
  ensurePrivateDir(path);
  ensurePrivateDir(path);
  expect([statSync(path).mode & 0o777, statSync(join(directory, "one")).mode & 0o777]).toEqual([0o700, 0o700]);
});

test.each([0o755, 0o710, 0o701, 0o770])("refuses mode %o and says what to run", (mode) => {
  chmodSync(directory, mode);
  const error = refusal(directory);
  expect([error.code, error.kind, error.message.endsWith(`run: chmod 700 '${directory}'`)]).toEqual([
    "home-not-private",
    "config",
    true,
  ]);
  expect(statSync(directory).mode & 0o777).toBe(mode);
});

test("refuses a link, even to a private directory", () => {
  mkdirSync(join(directory, "real"), { mode: 0o700 });
  symlinkSync(join(directory, "real"), join(directory, "link"));
  expect(refusal(join(directory, "link")).code).toBe("home-not-private");
});

test("refuses a dangling link and a file", () => {
  symlinkSync(join(directory, "nowhere"), join(directory, "link"));
  writeFileSync(join(directory, "file"), "");
  expect([refusal(join(directory, "link")).code, refusal(join(directory, "file")).code]).toEqual([
    "home-not-private",
    "home-not-private",
  ]);
});

test("refuses what lies below a file, and says what is in the way", () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  for (const path of [join(file, "home"), join(file, "one", "two")])
    expect(refusal(path)).toMatchObject({
      code: "home-not-writable",
      message: `${path} cannot be made, because ${file} is not a directory; move it away (mv '${file}' '${file}.old'), or choose another directory.`,
    });
});

test.each([
  ["EROFS", "because /there is on a read-only file system; choose a directory that can be written."],
  ["EACCES", "because you may not write in /there; choose a directory of your own."],
  ["ENOSPC", "in /there (no); check its disk, or choose another directory."],
])("says why a directory cannot be made (%s), and no command for one that is not there", (code, why) => {
  const error = Object.assign(new Error("no"), { code });
  const sentence = notMadeSentence("/there/home", { path: "/there", isDirectory: true }, error);
  expect(sentence).toMatch(/^\/there\/home cannot be made/);
  expect([sentence.endsWith(why), sentence.includes("chmod")]).toEqual([true, false]);
});

test.skipIf(process.getuid?.() !== 0)("refuses another user's directory (needs root to make one)", () => {
  chownSync(directory, 12345, 12345);
  expect(refusal(directory).code).toBe("home-not-private");
});

test("refuses a directory its owner cannot write", () => {
  chmodSync(directory, 0o500);
  expect(refusal(directory).code).toBe("home-not-writable");
  chmodSync(directory, 0o700);
});

function refusal(path: string): ReeveError {
  try {
    ensurePrivateDir(path);
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}
