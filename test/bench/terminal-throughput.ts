/**
 * Target 7: how fast a terminal's output reaches the disk while the session is
 * recorded, redaction and all, against `tmux pipe-pane` to `cat`. Each round is
 * from the key that sets it off until its last byte is in the file. Whatever
 * was left out of the recording breaks the target, however fast the rest was.
 */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../src/platform/reeve-error.ts";
import { runProgram } from "../support/test-home.ts";
import { callerEnvironment, createBenchHome, type SessionAnswer } from "./support/bench-home.ts";
import { createHttpClient, followEvents } from "./support/http-client.ts";
import { alternate, atLeast, compare, sleep } from "./support/measure.ts";
import { memoryOf } from "./support/processes.ts";
import { startRawTmux } from "./support/raw-tmux.ts";
import type { Target } from "./support/target.ts";

const MEGABYTE = 1_048_576;
/** What tmux and the daemon may hold beside what they hold anyway; some batches of output. */
const MOST_MORE_MEGABYTES = 150;

export const terminalThroughput: Target = {
  number: 7,
  title: "live terminal throughput, recorded",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    const daemon = await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const events = await followEvents(scope, home.socketPath, 0);
    const raw = await startRawTmux(scope, home.dir);

    for (const [what, unit] of [
      ["lines of a build, with colours", buildLines],
      ["a screen that is drawn again and again", screenFrames],
    ] as const) {
      const name = unit.name;
      const bytes = rounds(32, 8) * MEGABYTE;
      const payload = join(home.dir, `payload-${name}`);
      writeFileSync(payload, fill(unit, bytes));
      // The end is printed by itself, so that it is in one event of the recording.
      const program = [
        "sh",
        "-c",
        `stty raw -echo; while read n; do cat '${payload}'; sleep 0.02; printf '<end-%s>\\r\\n.' $n; done`,
      ];
      // A line feed is what `read` waits for.
      const key = (number: number): readonly string[] => [`${number}`, "C-j"];
      const start = {
        agent: "command",
        args: program,
        cwd: "/tmp",
        environment: callerEnvironment(),
        persist_session: true,
      };
      const { session_id: id } = await client.postJson<SessionAnswer>("/v1/sessions", start);
      await events.arrival("session-running", id);
      const piped = join(home.dir, `piped-${name}`);
      await raw.time("new-session", "-d", "-s", name, "-x", "200", "-y", "50", "--", ...program);
      await raw.time("pipe-pane", "-t", `=${name}:`, `exec cat > '${piped}'`);
      const controlled = join(home.dir, `controlled-${name}`);
      await raw.time("new-session", "-d", "-s", `${name}-control`, "-x", "200", "-y", "50", "--", ...program);
      const control = spawn(
        "sh",
        ["-c", `exec tmux -S '${home.dir}/raw-tmux.sock' -C attach -t '=${name}-control' > '${controlled}'`],
        {
          stdio: ["pipe", "ignore", "ignore"],
        },
      );
      scope.defer(() => void control.kill());
      const directory = directoryOf(home.outputsDir, id);
      const recording = ["terminal.cast", "terminal.cast.1"].map((file) => join(directory, file));
      const tmux = (...args: readonly string[]) =>
        runProgram("tmux", ["-S", home.tmuxSocket, ...args], callerEnvironment());
      const before = memoryOf(daemon.pid).rss;
      let most = before;
      let isWhole = true;
      let number = 0;

      const samples = await alternate({ count: rounds(5, 3), warmUp: 1, pauseMs: 300 }, [
        async () => {
          number += 1;
          const startedAt = performance.now();
          await raw.time("send-keys", "-t", `=${name}:`, ...key(number));
          await endsWith([piped], `<end-${number}>`);
          return { piped: rate(bytes, startedAt) };
        },
        async () => {
          number += 1;
          const startedAt = performance.now();
          await raw.time("send-keys", "-t", `=${name}-control:`, ...key(number));
          await endsWith([controlled], `<end-${number}>`);
          return { controlled: rate(bytes, startedAt) };
        },
        async () => {
          number += 1;
          const startedAt = performance.now();
          await tmux("send-keys", "-t", `=${id}:`, ...key(number));
          await endsWith(recording, `<end-${number}>`, () => (most = Math.max(most, memoryOf(daemon.pid).rss)));
          const recorded = rate(bytes, startedAt);
          isWhole &&= recording.every((path) => !textOf(path).includes("not recorded"));
          return { recorded };
        },
      ]);
      const more = most - before;
      const failed = isWhole ? null : "output was left out of the recording";
      add(
        compare({
          target: 7,
          what,
          unit: "MB/s",
          subject: samples("recorded"),
          baseline: samples("piped"),
          baselineName: "tmux pipe-pane to cat",
          limit: atLeast(0.8),
          failed: failed ?? (more > MOST_MORE_MEGABYTES ? `the daemon took ${Math.round(more)} MB more` : null),
          note: `${bytes / MEGABYTE} MB each; the daemon took at most ${Math.round(more)} MB more than before`,
        }),
        compare({
          target: 7,
          what: "… against what tmux passes on to a control client at all",
          unit: "MB/s",
          subject: samples("recorded"),
          baseline: samples("controlled"),
          baselineName: "tmux -C to a file",
        }),
      );
      control.stdin.end();
      await client.postJson(`/v1/sessions/${id}/end`, { when: "now", grace_seconds: 0 });
    }
  },
};

function buildLines(number: number): string {
  const colour = 31 + (number % 7);
  return `\u001b[${colour}m[${number}]\u001b[0m compiling src/module-${number % 977}/component.ts \u001b[2m(${number % 89} ms)\u001b[0m\r\n`;
}

function screenFrames(number: number): string {
  const rows = Array.from(
    { length: 12 },
    (_, row) =>
      `\u001b[${row + 5};3H\u001b[38;5;${(number + row) % 256}m│\u001b[m\u001b[1Cstep ${number}.${row}\u001b[4Cworking on it │\u001b[K`,
  );
  return `\u001b[?25l${rows.join("")}\u001b[20;1H> \u001b[?25h`;
}

function fill(unit: (number: number) => string, bytes: number): Buffer {
  const parts: string[] = [];
  for (let [number, length] = [0, 0]; length < bytes; number += 1) {
    const part = unit(number);
    parts.push(part);
    length += Buffer.byteLength(part);
  }
  return Buffer.from(parts.join("")).subarray(0, bytes);
}

function directoryOf(outputsDir: string, id: string): string {
  const found = readdirSync(outputsDir, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith(id));
  if (found === undefined) throw new Error(`session ${id} has no directory`);
  return join(outputsDir, found);
}

async function endsWith(paths: readonly string[], text: string, meanwhile = (): unknown => undefined): Promise<void> {
  const endsAt = performance.now() + 60_000;
  while (!paths.some((path) => tailOf(path).includes(text))) {
    if (performance.now() > endsAt) throw new Error(`${text} did not arrive in ${paths[0]}`);
    meanwhile();
    await sleep(5);
  }
}

function tailOf(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const { size } = fstatSync(file);
      const buffer = Buffer.alloc(Math.min(size, 4_096));
      return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

function rate(bytes: number, startedAt: number): number {
  return bytes / MEGABYTE / ((performance.now() - startedAt) / 1_000);
}
