import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLineLog, RemovedLog } from "./line-log.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-lines-"));
  path = join(directory, "x", "session.log");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const line = (seq: number): string => JSON.stringify({ v: 1, seq, text: `line ${seq}` });
const whole = (file = path): readonly number[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((text) => {
      try {
        return [(JSON.parse(text) as { seq: number }).seq];
      } catch {
        return [];
      }
    });

test("goes on after its last whole line, wherever the file was cut", async () => {
  await openLineLog(path, 1_000_000).append([1, 2, 3].map(line));
  const text = readFileSync(path, "utf8");
  for (let length = 0; length <= text.length; length += 1) {
    writeFileSync(path, text.slice(0, length));
    const log = openLineLog(path, 1_000_000);
    const last = (await log.resume())?.seq ?? 0;
    await log.append([1, 2, 3].filter((seq) => seq > last).map(line));
    expect([length, whole()]).toEqual([length, [1, 2, 3]]);
  }
});

test("is for its user alone; its directory is made where it is missing", async () => {
  await openLineLog(path, 1_000_000).append([line(1)]);
  expect([statSync(path).mode & 0o777, statSync(join(directory, "x")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("a full file is kept once, and where to go on is known right after that", async () => {
  const log = openLineLog(path, 100);
  for (let seq = 1; seq <= 9; seq += 1) await log.append([line(seq)]);
  expect(await log.resume()).toMatchObject({ seq: 9 });
  const [before, now] = [whole(`${path}.1`), whole()];
  const first = before[0] ?? 0;
  expect([...before, ...now]).toEqual(Array.from({ length: 10 - first }, (_, index) => first + index));
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThanOrEqual(200);
  rmSync(path);
  expect(await log.resume()).toMatchObject({ seq: whole(`${path}.1`).at(-1) });
});

test("a file that was removed is not gone on with as if nothing were missing", async () => {
  const log = openLineLog(path, 1_000_000);
  await log.append([line(1)]);
  expect(log.isRemoved()).toBe(false);
  rmSync(path);
  expect(log.isRemoved()).toBe(true);
  await expect(log.append([line(2)])).rejects.toBeInstanceOf(RemovedLog);
  expect(await log.resume()).toBeNull();
  await log.append([1, 2].map(line));
  expect([log.isRemoved(), whole()]).toEqual([false, [1, 2]]);
  // The same where somebody else wrote it.
  const other = openLineLog(path, 1_000_000);
  await other.resume();
  rmSync(path);
  await expect(other.append([line(3)])).rejects.toBeInstanceOf(RemovedLog);
});

test("what somebody put in its place is moved aside, and no link is followed", async () => {
  mkdirSync(join(directory, "x"), { mode: 0o700 });
  const target = join(directory, "elsewhere");
  symlinkSync(target, path);
  await openLineLog(path, 1_000_000).append([line(1)]);
  expect(lstatSync(path).isFile()).toBe(true);
  expect(lstatSync(target, { throwIfNoEntry: false })).toBeUndefined();
});

test("lines of others, and a power cut's NULs, are skipped", async () => {
  const log = openLineLog(path, 10_000_000);
  await log.append([line(1)]);
  writeFileSync(path, `${readFileSync(path, "utf8")}not JSON\n${"\0".repeat(4096)}\n${"x".repeat(200_000)}\n`);
  expect(await log.resume()).toMatchObject({ seq: 1 });
});
