/** What is no plain file of ours never blocks us; it is moved aside. */
import {
  constants,
  closeSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { plant, plantable } from "../../test/support/plant.ts";
import { writeFileAtomic, writeFileAtomicSync } from "./atomic-file.ts";
import { openLog } from "./log.ts";
import { onSetAside, openOwnFile, readOwnFile } from "./own-file.ts";
import { acquireProcessLock } from "./process-lock.ts";

let directory: string;
let path: string;
let told: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-own-"));
  path = join(directory, "file");
  // Whoever begins to listen is told of what was moved aside before, also by other files of this worker.
  onSetAside(() => undefined);
  told = [];
  onSetAside((from, to) => void told.push(`${from} ${to}`));
});
afterEach(() => {
  onSetAside(() => undefined);
  rmSync(directory, { recursive: true });
});

const names = (): readonly string[] => readdirSync(directory).toSorted();

describe.each([...plantable])("a %s in the place of a file of ours", (kind) => {
  test("is set aside when the file is read, opened or written whole, and told of", async () => {
    plant(path, kind);
    expect(readOwnFile(path, 100)).toBeNull();
    plant(path, kind);
    const file = openOwnFile(path, constants.O_WRONLY | constants.O_CREAT);
    writeSync(file, "ours");
    closeSync(file);
    expect(readOwnFile(path, 100)).toBe("ours");
    plant(path, kind);
    writeFileAtomicSync(path, "whole");
    plant(join(directory, ".temporary"), kind);
    plant(path, kind);
    await writeFileAtomic(path, "again", { temporaryName: ".temporary" });
    expect(readFileSync(path, "utf8")).toBe("again");
    expect(names()).toEqual([
      ".temporary.set-aside-1",
      "file",
      "file.set-aside-1",
      "file.set-aside-2",
      "file.set-aside-3",
      "file.set-aside-4",
    ]);
    expect(told).toHaveLength(5);
    expect(told[0]).toBe(`${path} ${path}.set-aside-1`);
  });

  test("does not keep anyone from a lock", () => {
    plant(path, kind);
    const lock = acquireProcessLock(path);
    expect(lock).not.toBeNull();
    lock?.release();
    expect(names()).toEqual(["file", "file.set-aside-1"]);
  });

  test("does not stop the log, nor where it is turned over", () => {
    plant(path, kind);
    plant(`${path}.1`, kind);
    const log = openLog(path);
    for (let line = 0; line < 60; line += 1) log("x".repeat(100_000));
    log("the last");
    expect(readFileSync(path, "utf8")).toContain("the last");
    expect(names()).toEqual(["file", "file.1", "file.1.set-aside-1", "file.set-aside-1"]);
  });
});

test("a lock file that somebody wrote into is set aside, but never one that is held", () => {
  writeFileSync(path, "this is no database, and longer than a header of one".repeat(10));
  const lock = acquireProcessLock(path);
  expect(lock).not.toBeNull();
  expect(names()).toEqual(["file", "file.set-aside-1"]);
  expect(acquireProcessLock(path)).toBeNull();
  lock?.release();
});

test("what was moved aside before anybody listened is told to the first who does, once", async () => {
  vi.resetModules();
  const fresh = await import("./own-file.ts");
  plant(path, "directory");
  fresh.setAside(path);
  fresh.onSetAside((from, to) => void told.push(`${from} ${to}`));
  fresh.onSetAside((from, to) => void told.push(`${from} ${to}`));
  expect(told).toEqual([`${path} ${path}.set-aside-1`]);
});
