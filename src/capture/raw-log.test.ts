/** What is recorded of model traffic, on disks that are full, gone or slow. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { eventually } from "../../test/support/eventually.ts";
import { MOST_WAITING } from "./line-file.ts";
import type { RawLine } from "./raw-line.ts";
import { openRawLog, RAW_LOG_NAME, type RawLog } from "./raw-log.ts";

const made: { readonly root: string; isMounted: boolean }[] = [];

afterEach(() => {
  for (const { root, isMounted } of made.splice(0)) {
    if (isMounted) spawnSync("umount", [root]);
    rmSync(root, { recursive: true, force: true });
  }
});

function setUp(options: { readonly disk?: string; readonly capBytes?: number } = {}) {
  const root = mkdtempSync(join(tmpdir(), "reeve-test-"));
  const entry = { root, isMounted: false };
  made.push(entry);
  if (options.disk !== undefined)
    entry.isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", options.disk, "tmpfs", root]).status === 0;
  const directory = join(root, "session");
  mkdirSync(directory, { mode: 0o700 });
  const told: string[] = [];
  const open = (): RawLog =>
    openRawLog({
      directory,
      capBytes: options.capBytes ?? 1_000_000,
      captured: "proxy",
      clock: systemClock,
      told: { failed: (why) => told.push(`failed: ${why}`), resumed: () => told.push("resumed") },
    });
  return { root, directory, path: join(directory, RAW_LOG_NAME), told, open, isMounted: entry.isMounted };
}

function chunk(n: number, body = "x"): RawLine {
  return {
    kind: "chunk",
    exchange: "e1",
    captured: "proxy",
    from: "model",
    n,
    body,
    bytes: body.length,
    latency_ms: 1,
  };
}

const END: RawLine = {
  kind: "end",
  exchange: "e1",
  captured: "proxy",
  outcome: "complete",
  error: null,
  status: 200,
  request_bytes: 1,
  response_bytes: 1,
  chunks: 1,
  latency_ms: 1,
  model: null,
  usage: null,
};

function linesOf(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}

test("lines are numbered, timed and private, and a second writer counts on", async () => {
  const { path, open } = setUp();
  const log = open();
  log.write(chunk(1));
  log.write(chunk(2));
  await log.close();
  const next = open();
  next.write(chunk(3));
  await next.close();
  const lines = linesOf(path);
  expect(lines.map(({ v, seq, n }) => [v, seq, n])).toEqual([
    [1, 1, 1],
    [1, 2, 2],
    [1, 3, 3],
  ]);
  expect(lines[0]).toMatchObject({ at: expect.stringMatching(/Z$/), mono_ms: expect.any(Number), kind: "chunk" });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a line that a crash cut is ended, and the next one is whole", async () => {
  const { path, open } = setUp();
  writeFileSync(path, '{"v":1,"seq":7,"kind":"chunk"}\n{"v":1,"seq":8,"kind":"chu');
  const log = open();
  log.write(chunk(1));
  await log.close();
  expect(linesOf(path).map(({ seq }) => seq)).toEqual([7, 9]);
});

test("a full file becomes the older one, both together stay below the cap, and what was replaced is counted", async () => {
  const { path, open, directory } = setUp({ capBytes: 20_000 });
  for (let round = 0; round < 10; round += 1) {
    const log = open();
    for (let n = 1; n <= 20; n += 1) log.write(chunk(n, "y".repeat(200)));
    await log.close();
  }
  expect(readdirSync(directory).toSorted()).toEqual(
    [RAW_LOG_NAME, `${RAW_LOG_NAME}.1`].filter((name) => existsSync(join(directory, name))),
  );
  const older = linesOf(`${path}.1`);
  const lines = [...older, ...(existsSync(path) ? linesOf(path) : [])];
  const first = Number(lines[0]?.["seq"]);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => first + index));
  expect(first).toBeGreaterThan(20);
  const dropped = lines.filter(({ kind }) => kind === "dropped");
  expect(dropped.length).toBeGreaterThan(0);
  expect(statSync(`${path}.1`).size).toBeLessThan(20_000);
});

test("what is planted at its place is moved aside, and no link is followed", async () => {
  const { path, root, open } = setUp();
  writeFileSync(join(root, "victim"), "untouched");
  symlinkSync(join(root, "victim"), path);
  symlinkSync(join(root, "victim"), `${path}.1`);
  const log = open();
  log.write(chunk(1));
  await log.close();
  expect(linesOf(path)).toHaveLength(1);
  expect(readFileSync(join(root, "victim"), "utf8")).toBe("untouched");
});

test("a directory that is removed while it is recorded is told once and made again", async () => {
  const { path, directory, told, open } = setUp();
  const log = open();
  log.write(chunk(1));
  await eventually("it is written", () => existsSync(path) && readFileSync(path, "utf8") !== "");
  rmSync(directory, { recursive: true });
  log.write(chunk(2));
  log.write(chunk(3));
  await eventually("it is written again", () => existsSync(path) && linesOf(path).length === 2);
  await log.close();
  expect(linesOf(path).map(({ n }) => n)).toEqual([2, 3]);
  expect(told).toEqual([`failed: ${directory} was removed`, "resumed"]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("a full disk is told once, and what waited is written when there is room", async ({ skip }) => {
  const { path, root, told, open, isMounted } = setUp({ disk: "size=64k" });
  if (!isMounted) skip("no tmpfs can be mounted here");
  const log = open();
  log.write(chunk(1));
  await eventually("it is written", () => existsSync(path) && readFileSync(path, "utf8") !== "");
  spawnSync("dd", ["if=/dev/zero", `of=${join(root, "fill")}`, "bs=4096"]);
  for (let n = 2; n <= 60; n += 1) log.write(chunk(n, "z".repeat(500)));
  await eventually("it is told", () => told.length > 0);
  expect(log.outage).toMatch(/ENOSPC/);
  rmSync(join(root, "fill"));
  await eventually("it is resumed", () => told.includes("resumed"));
  await log.close();
  expect(linesOf(path).map(({ n }) => n)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  expect(told).toEqual([expect.stringMatching(/^failed: ENOSPC/), "resumed"]);
});

test("where nothing can be written, what waits is bounded, and counted when it can", async () => {
  const { root, directory, path, told, open } = setUp();
  // Something that no directory can be made below: also for root, who may write anything.
  rmSync(directory, { recursive: true });
  chmodSync(root, 0o700);
  const blocked = join(root, "blocked");
  writeFileSync(blocked, "");
  const log = openRawLog({
    directory: join(blocked, "session"),
    capBytes: 1_000_000_000,
    captured: "proxy",
    clock: systemClock,
    told: { failed: (why) => told.push(why), resumed: () => told.push("resumed") },
  });
  const body = "w".repeat(1_000_000);
  for (let n = 1; n <= 40; n += 1) log.write(chunk(n, body));
  expect(log.waiting).toBeLessThanOrEqual(MOST_WAITING);
  await eventually("it is told", () => told.length > 0);
  for (let n = 41; n <= 50; n += 1) log.write(chunk(n, body));
  expect(log.droppedLines).toBeGreaterThan(30);
  rmSync(blocked);
  await eventually("it is resumed", () => told.includes("resumed"));
  await log.close();
  const lines = linesOf(join(blocked, "session", RAW_LOG_NAME));
  const dropped = lines.filter(({ kind }) => kind === "dropped");
  expect(dropped.map(({ lines }) => lines)).toEqual([50 - (lines.length - 1)]);
  expect(told).toHaveLength(2);
  expect(existsSync(path)).toBe(false);
  void open;
});

test("what ends an exchange is written at once, with all before it: a kill -9 right after loses nothing", async () => {
  const { path, open } = setUp();
  // No timer fires: what is written was not put off.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    const log = open();
    log.write(chunk(1));
    log.write(END);
    for (let turns = 0; log.waiting > 0 && turns < 100_000; turns += 1)
      await new Promise((resolve) => setImmediate(resolve));
    expect(readFileSync(path, "utf8").match(/"kind":"[a-z]+"/g)).toEqual(['"kind":"chunk"', '"kind":"end"']);
    await log.close();
  } finally {
    vi.useRealTimers();
  }
});
