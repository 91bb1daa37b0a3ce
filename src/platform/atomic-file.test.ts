import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AtomicWriteOptions, writeFileAtomic, writeFileAtomicSync } from "./atomic-file.ts";

const WRITERS = {
  writeFileAtomic,
  writeFileAtomicSync: async (path: string, data: string, options?: AtomicWriteOptions) =>
    writeFileAtomicSync(path, data, options),
};

describe.each(Object.entries(WRITERS))("%s", (_name, write) => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "reeve-atomic-"));
    path = join(directory, "file");
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("replaces the content, privately, and leaves nothing else behind", async () => {
    await write(path, "old");
    await write(path, "new");
    expect({
      text: readFileSync(path, "utf8"),
      mode: statSync(path).mode & 0o777,
      names: readdirSync(directory),
    }).toEqual({ text: "new", mode: 0o600, names: ["file"] });
  });

  test("replaces a symbolic link instead of following it", async () => {
    const elsewhere = join(directory, "elsewhere");
    writeFileSync(elsewhere, "untouched");
    symlinkSync(elsewhere, path);
    await write(path, "new");
    expect([readFileSync(elsewhere, "utf8"), lstatSync(path).isFile()]).toEqual(["untouched", true]);
  });

  test("removes a stray temporary file, and a link planted in its place is not followed", async () => {
    const elsewhere = join(directory, "elsewhere");
    writeFileSync(elsewhere, "untouched");
    symlinkSync(elsewhere, join(directory, ".tmp"));
    await write(path, "new", { temporaryName: ".tmp" });
    expect([readFileSync(elsewhere, "utf8"), readFileSync(path, "utf8"), readdirSync(directory).toSorted()]).toEqual([
      "untouched",
      "new",
      [".tmp.set-aside-1", "elsewhere", "file"],
    ]);
  });

  test("does not write through a directory that is a link", async () => {
    const link = join(directory, "link");
    mkdirSync(join(directory, "real"));
    symlinkSync(join(directory, "real"), link);
    await expect(write(join(link, "file"), "new")).rejects.toThrow();
    expect(readdirSync(join(directory, "real"))).toEqual([]);
  });

  test("a directory that stands at the path is set aside", async () => {
    mkdirSync(path);
    await write(path, "new");
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(readdirSync(directory)).toEqual(["file", "file.set-aside-1"]);
  });
});
