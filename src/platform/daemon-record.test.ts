import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deathsIn, readDaemonRecord, writeDaemonRecord } from "./daemon-record.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-record-"));
  path = join(directory, "daemon.json");
});
afterEach(() => rmSync(directory, { recursive: true }));

const own = { pid: 7, startTicks: "9", version: "0.1.0", startedAt: 5, untold: [] };
const earlier = { pid: 6, version: "0.0.9", startedAt: 4, error: "Error: earlier" };

test("what it died of is written in place, so that a full disk does not matter", () => {
  const record = writeDaemonRecord(path, { ...own, untold: [earlier] });
  const before = statSync(path);
  record.died(`Error: broken\n${"    at somewhere \u0001\n".repeat(1_000)}`);
  const after = statSync(path);
  expect([after.ino, after.size, after.blocks]).toEqual([before.ino, before.size, before.blocks]);
  const deaths = deathsIn(readDaemonRecord(path) ?? {});
  expect(deaths).toMatchObject([earlier, { pid: 7, version: "0.1.0", startedAt: 5 }]);
  expect(deaths[1]?.error).toMatch(/^Error: broken\n {4}at somewhere/);
});

test("one that was killed left no word; one that stops in order leaves nothing", () => {
  const record = writeDaemonRecord(path, own);
  expect(deathsIn(readDaemonRecord(path) ?? {})).toEqual([{ pid: 7, version: "0.1.0", startedAt: 5, error: null }]);
  record.remove();
  expect(readDaemonRecord(path)).toBeNull();
});

test("one that could not start hands on what it had to tell, and is no death itself", () => {
  writeDaemonRecord(path, { ...own, untold: [earlier] }).withdraw();
  expect(deathsIn(readDaemonRecord(path) ?? {})).toEqual([earlier]);
  writeDaemonRecord(path, own).withdraw();
  expect(readDaemonRecord(path)).toBeNull();
});

test("told once, they are not told again", () => {
  const record = writeDaemonRecord(path, { ...own, untold: [earlier] });
  record.told();
  record.died("Error: later");
  expect(deathsIn(readDaemonRecord(path) ?? {})).toMatchObject([{ pid: 7, error: "Error: later" }]);
});

test("a torn or planted file says only that somebody was there", () => {
  writeFileSync(path, '{"pid":');
  expect(deathsIn(readDaemonRecord(path) ?? {})).toEqual([{ pid: null, version: null, startedAt: null, error: null }]);
  rmSync(path);
  const target = join(directory, "target");
  writeFileSync(target, "theirs");
  symlinkSync(target, path);
  expect(readDaemonRecord(path)).toBeNull();
  writeDaemonRecord(path, own);
  expect(readFileSync(target, "utf8")).toBe("theirs");
});
