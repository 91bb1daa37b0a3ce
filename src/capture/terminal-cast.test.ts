/** The recording of a terminal: what is in the file, whatever happens to the disk, the daemon and the session. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { createRedactor, REDACTED } from "./redaction.ts";
import { openTerminalCast, type TerminalCast, type TerminalCastOptions } from "./terminal-cast.ts";

const SECRET = "hunter2-hunter2-hunter2";
const SIZE = { columns: 80, rows: 24 };
let directory = "";
let clock: TestClock = makeTestClock();
let said: string[] = [];
let repaints = 0;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-cast-"));
  clock = makeTestClock();
  clock.jump(Date.now() - clock.now());
  said = [];
  repaints = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(options: Partial<TerminalCastOptions> = {}): TerminalCast {
  return openTerminalCast({
    directory,
    title: "worker",
    environment: { TERM: "tmux-256color", SHELL: "/bin/sh" },
    mostBytes: 1_000_000,
    clock,
    told: (failure) => said.push(failure === null ? "recorded" : messageOf(failure)),
    start: 1,
    isAdopted: false,
    newRedactor: async () => () => createRedactor([SECRET]),
    repaint: () => (repaints += 1),
    ...options,
  });
}
const bytes = (text: string | Buffer) => ({ type: "bytes", bytes: Buffer.from(text) }) as const;
const resized = (size = SIZE) => ({ type: "resized", size }) as const;
const snapshot = (text: string, size = SIZE) => ({ type: "snapshot", bytes: Buffer.from(text), size }) as const;

type Event = [number, string, string];
/** Each line must be JSON, at any time. */
function cast(name = "terminal.cast"): { header: Record<string, unknown>; events: Event[] } {
  const lines = readFileSync(join(directory, name), "utf8").split("\n");
  expect(lines.pop()).toBe("");
  const [header, ...events] = lines.map((line) => JSON.parse(line) as unknown);
  return { header: header as Record<string, unknown>, events: events as Event[] };
}
const text = (name?: string): string =>
  cast(name)
    .events.filter(([, code]) => code === "o")
    .map(([, , data]) => data)
    .join("");
const markers = (name?: string): string[] =>
  cast(name)
    .events.filter(([, code]) => code === "m")
    .map(([, , data]) => data);
/** What was due happens, and the disk has answered. */
/** The file is made a moment before it is written. */
function hasEvents(): boolean {
  const path = join(directory, "terminal.cast");
  return existsSync(path) && readFileSync(path, "utf8").split("\n").length > 2;
}

async function flushed(isDone: () => boolean): Promise<void> {
  await eventually("it was written", async () => {
    await clock.advance(50);
    return isDone();
  });
}

test("what the terminal got, when it got it, and its size; for its user alone", async () => {
  const recording = open();
  recording.push(bytes("\u001b[31mrot\u001b[0m\r\n"));
  recording.push(resized());
  await clock.advance(1_500);
  recording.push(bytes(Buffer.from("漢").subarray(0, 1)));
  await clock.advance(100);
  recording.push(bytes(Buffer.concat([Buffer.from("漢").subarray(1), Buffer.from("\u0085 end")])));
  recording.push(resized({ columns: 100, rows: 30 }));
  recording.push(bytes("!"));
  await recording.close();
  const { header, events } = cast();
  const timestamp = Math.floor((clock.now() - 1_600) / 1_000);
  expect(header).toEqual({
    version: 2,
    width: 80,
    height: 24,
    timestamp,
    title: "worker",
    env: { TERM: "tmux-256color", SHELL: "/bin/sh" },
  });
  expect(events).toEqual([
    [0, "o", "\u001b[31mrot\u001b[0m\r\n"],
    [1.6, "o", "漢\u0085 end"],
    [1.6, "r", "100x30"],
    [1.6, "o", "!"],
  ]);
  expect(statSync(join(directory, "terminal.cast")).mode & 0o777).toBe(0o600);
  // Nothing in the file does anything to a terminal that shows it.
  expect(readFileSync(join(directory, "terminal.cast"), "utf8")).not.toMatch(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/,
  );
});

test("a terminal whose size nobody tells is recorded all the same, although nothing more comes", async () => {
  const recording = open();
  recording.push(bytes("the only words"));
  await flushed(hasEvents);
  expect(cast()).toMatchObject({ header: { width: 80, height: 24 }, events: [[0, "o", "the only words"]] });
  await recording.close();
});

test("a secret is in no file, wherever it is cut; what may begin one appears at its time", async () => {
  for (let cut = 1; cut < SECRET.length; cut += 1) {
    const recording = open();
    recording.push(resized());
    recording.push(bytes(`> ${SECRET.slice(0, cut)}\u001b[1m`));
    await clock.advance(1_000);
    recording.push(bytes(`${SECRET.slice(cut)} x`));
    await recording.close();
    expect(text()).toBe(`> ${REDACTED}\u001b[1m x`);
    rmSync(join(directory, "terminal.cast"));
  }
  const before = clock.monotonic();
  const recording = open();
  recording.push(bytes("$ hunt"));
  recording.push(resized());
  await flushed(hasEvents);
  await clock.advance(5_000 - clock.monotonic() + before);
  recording.push(bytes("ing"));
  await recording.close();
  expect(cast().events).toEqual([
    [0, "o", "$ "],
    [0, "o", "hunt"],
    [5, "o", "ing"],
  ]);
});

test("nothing is written while the secrets are not known; then it begins with the screen", async () => {
  let known = false;
  const recording = open({ newRedactor: async () => (known ? () => createRedactor([SECRET]) : null) });
  recording.push(resized());
  recording.push(bytes(`it is ${SECRET}`));
  await flushed(() => said.length === 1);
  expect(said).toEqual(["Reeve does not know which secrets it may show"]);
  expect(existsSync(join(directory, "terminal.cast"))).toBe(false);
  known = true;
  await clock.advance(5_000);
  expect(repaints).toBe(1);
  recording.push(snapshot(`\u001b[2Jit is ${SECRET}`));
  recording.push(bytes("!"));
  await recording.close();
  expect(text()).toBe(`\u001b[2Jit is ${REDACTED}!`);
});

test("another daemon goes on in the file, after what was cut off, in wall time, and with the screen", async () => {
  const before = open();
  before.push(resized());
  before.push(bytes("one"));
  await clock.advance(2_000);
  before.push(bytes("two"));
  await before.close();
  const whole = readFileSync(join(directory, "terminal.cast"));
  for (const torn of ['[2.5, "o", "thr', "[", '[3.0,"o","\\u00']) {
    writeFileSync(join(directory, "terminal.cast"), whole);
    appendFileSync(join(directory, "terminal.cast"), torn);
    const other = makeTestClock();
    other.jump(Date.now() + 30_000 - other.now());
    const after = open({ clock: other, isAdopted: true });
    expect(repaints).toBeGreaterThan(0);
    after.push(bytes("is in the snapshot"));
    after.push(snapshot("\u001b[2Jscreen", { columns: 90, rows: 24 }));
    after.push(bytes("three"));
    await after.close();
    const { events } = cast();
    expect(events.map(([, code, data]) => `${code} ${data}`)).toEqual([
      "o one",
      "o two",
      "m not recorded for 30 s: Reeve did not run",
      "r 90x24",
      "o \u001b[2Jscreen",
      "o three",
    ]);
    expect(events[2]?.[0]).toBeGreaterThan(31);
    expect(events[2]?.[0]).toBeLessThan(40);
  }
});

test("time never goes back, also when the wall clock was set back while no daemon ran", async () => {
  const before = open();
  before.push(resized());
  before.push(bytes("one"));
  await clock.advance(60_000);
  before.push(bytes("two"));
  await before.close();
  const other = makeTestClock();
  const after = open({ clock: other, isAdopted: true });
  after.push(snapshot("three"));
  await after.close();
  const times = cast().events.map(([seconds]) => seconds);
  expect(times).toEqual([0, 60, 60, 60, 60]);
});

test("a header that was cut off is written again, and what is no recording is moved aside", async () => {
  for (const content of ['{"version":2,"wid', "no recording\n"]) {
    writeFileSync(join(directory, "terminal.cast"), content);
    const recording = open();
    recording.push(resized());
    recording.push(bytes("one"));
    await recording.close();
    expect(text()).toBe("one");
    rmSync(join(directory, "terminal.cast"));
  }
  expect(readdirSync(directory)).toEqual(["terminal.cast.set-aside-1"]);
});

test("a session that was started again begins with an empty screen, in the same file and after the one before", async () => {
  const before = open();
  before.push(resized());
  before.push(bytes("one"));
  const closed = before.close();
  const after = open({ start: 2, after: closed });
  after.push(resized({ columns: 90, rows: 30 }));
  after.push(bytes("two"));
  await after.close();
  expect(cast().events.map(([, code, data]) => `${code} ${data}`)).toEqual([
    "o one",
    "m start 2",
    "r 90x30",
    "o \u001bc",
    "o two",
  ]);
});

test("a full file is turned over, and the next one begins with the screen", async () => {
  const recording = open({ mostBytes: 2_000 });
  recording.push(resized());
  recording.push(bytes("z".repeat(2_100)));
  await flushed(() => repaints === 1);
  recording.push(bytes("in the old one"));
  recording.push(snapshot("\u001b[2Jscreen", { columns: 90, rows: 24 }));
  recording.push(bytes("in the new one"));
  await recording.close();
  expect(text("terminal.cast.1")).toBe(`${"z".repeat(2_100)}in the old one`);
  expect(cast().header).toMatchObject({ width: 90, height: 24 });
  expect(cast().events.map(([, code, data]) => `${code} ${data}`)).toEqual(["o \u001b[2Jscreen", "o in the new one"]);
  expect(cast().events[0]?.[0]).toBe(0);
  expect(repaints).toBe(1);
});

test("it stays within its bounds although no screen comes", async () => {
  const recording = open({ mostBytes: 2_000 });
  recording.push(resized());
  for (let round = 0; round < 40; round += 1) {
    const written = (): string =>
      readdirSync(directory)
        .map((name) => `${name} ${statSync(join(directory, name)).size}`)
        .join();
    const before = written();
    recording.push(bytes("z".repeat(900)));
    await flushed(() => written() !== before);
  }
  await recording.close();
  for (const name of readdirSync(directory)) {
    expect(cast(name).header).toMatchObject({ version: 2 });
    expect(statSync(join(directory, name)).size).toBeLessThan(6_000);
  }
  expect(readdirSync(directory).length).toBeLessThanOrEqual(2);
});

test("a flood is left out and said, memory stays bounded, and it goes on with the screen", async () => {
  let release = (): void => undefined;
  const after = new Promise<void>((resolve) => (release = resolve));
  const recording = open({ after, mostBytes: 100_000_000 });
  recording.push(resized());
  // The disk takes nothing, as it seems.
  for (let round = 0; round < 100; round += 1) recording.push(bytes("y".repeat(100_000)));
  expect(repaints).toBe(0);
  release();
  await eventually("the screen is asked for", () => repaints > 0);
  recording.push(bytes("left out"));
  recording.push(snapshot("\u001b[2Jscreen"));
  recording.push(bytes("on"));
  await recording.close();
  const kept = (text().match(/y/g) ?? []).length;
  expect(kept).toBeGreaterThan(3_000_000);
  expect(kept).toBeLessThan(5_000_000);
  expect(markers()).toEqual([
    `${10_000_000 + 8 - kept} bytes not recorded: output came faster than it could be written`,
  ]);
  expect(text().slice(kept)).toBe("\u001b[2Jscreenon");
});

test("the directory is removed while it records: it is made again, and the file begins with the screen", async () => {
  const recording = open();
  recording.push(resized());
  recording.push(bytes("one"));
  await flushed(hasEvents);
  rmSync(directory, { recursive: true });
  recording.push(bytes("two"));
  await flushed(() => repaints === 1);
  recording.push(snapshot("\u001b[2Jscreen"));
  await recording.close();
  expect(text()).toBe("two\u001b[2Jscreen");
  expect(said).toEqual(["recorded"]);
});

test("what keeps it from being written is told; it goes on when it can", async () => {
  const recording = open();
  recording.push(resized());
  recording.push(bytes("one"));
  await flushed(hasEvents);
  // Not even the owner may write, so this holds for root as well: the directory is somebody's file now.
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "in the way");
  recording.push(bytes("two"));
  await flushed(() => said.length === 2);
  expect(said).toEqual(["recorded", expect.stringContaining("is not a real directory")]);
  for (let round = 1; round <= 3; round += 1) {
    await clock.advance(5_000);
    expect(repaints).toBe(round);
    recording.push(snapshot("screen"));
    await eventually("it was tried", async () => {
      await clock.advance(50);
      return said.length === 2 + round;
    });
  }
  rmSync(directory);
  mkdirSync(directory, { mode: 0o700 });
  await clock.advance(5_000);
  recording.push(bytes("3"));
  recording.push(snapshot("\u001b[2Jscreen"));
  await flushed(() => said.at(-1) === "recorded");
  await recording.close();
  expect(text()).toBe("\u001b[2Jscreen");
  expect(markers()).toEqual([expect.stringContaining("bytes not recorded: it could not be written")]);
});

const canMount = ((): boolean => {
  const probe = mkdtempSync(join(tmpdir(), "reeve-cast-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", probe]).status === 0;
  if (isMounted) spawnSync("umount", [probe]);
  rmSync(probe, { recursive: true });
  return isMounted;
})();

test.skipIf(!canMount)("a disk that is full: the file can be played, and it goes on when there is room", async () => {
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=128k,mode=0700", "tmpfs", directory]);
  try {
    const recording = open();
    recording.push(resized());
    for (let round = 0; said.at(-1) !== "ENOSPC: no space left on device, write"; round += 1) {
      recording.push(round === 0 ? bytes("hello") : snapshot(`${"z".repeat(20_000)}${round} `));
      await flushed(
        () => said.length > 0 && (statSync(join(directory, "terminal.cast")).size > 20_000 * round || said.length > 1),
      );
    }
    writeFileSync(join(directory, "more"), "");
    truncateSync(join(directory, "terminal.cast"), 60_000);
    await clock.advance(5_000);
    expect(repaints).toBeGreaterThan(0);
    recording.push(snapshot("\u001b[2Jscreen"));
    await flushed(() => said.at(-1) === "recorded");
    await recording.close();
    expect(text().endsWith("\u001b[2Jscreen")).toBe(true);
    expect(markers()).toEqual(["0 bytes not recorded: it could not be written"]);
  } finally {
    spawnSync("umount", [directory]);
  }
});

test("a write that was cut short leaves a file that can be played", async () => {
  const recording = open();
  recording.push(resized());
  recording.push(bytes("one"));
  await flushed(hasEvents);
  const { size } = statSync(join(directory, "terminal.cast"));
  await recording.close();
  truncateSync(join(directory, "terminal.cast"), size - 3);
  const next = open({ isAdopted: true });
  next.push(snapshot("screen"));
  await next.close();
  expect(text()).toBe("screen");
});

test("links and directories in its place are moved aside, and nothing behind them is touched", async () => {
  symlinkSync(join(directory, "elsewhere"), join(directory, "terminal.cast"));
  mkdirSync(join(directory, "terminal.cast.1"));
  const recording = open({ mostBytes: 10 });
  recording.push(resized());
  recording.push(bytes("z".repeat(100)));
  await flushed(() => existsSync(join(directory, "terminal.cast.1.set-aside-1")));
  await recording.close();
  expect(existsSync(join(directory, "elsewhere"))).toBe(false);
  expect(text("terminal.cast.1")).toBe("z".repeat(100));
  chmodSync(directory, 0o700);
});
