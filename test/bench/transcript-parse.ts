/**
 * Target 14: a transcript of 1 GB read to its end and parsed, and a single
 * line of 1 GB passed over: the time against plain reading, and the memory
 * above the start. Each reading is a process of its own, which is this file
 * run as a program: its memory is nobody else's.
 *
 *   node test/bench/transcript-parse.ts lines|plain-lines|plain-bytes FILE KIB
 */
import { execFile } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type LineCursor, readNewLines } from "../../src/platform/line-cursor.ts";
import { alternate, atMost, compare, type Row, summarize } from "./support/measure.ts";
import type { Target } from "./support/target.ts";

const MB = 1024 * 1024;
const MOST_MEMORY_MB = 64;
/**
 * `small` is what the supervisor takes (transcript-watch.ts), and what counts.
 * With the usual 1 MiB at a time less than 20 MB are alive, but so much of it
 * outlives a collection that V8 makes more and more room for new objects (Node
 * 24.21: up to 64 MB, and as much to copy the survivors to). With less at a
 * time it does not, and each call's own cost weighs more.
 */
const STEPS = { usual: 1024, small: 128 } as const;
/** Of the time; a daemon that catches up must not crawl. */
const LIMIT = atMost(1.5);

export const transcriptParse: Target = {
  number: 14,
  title: "a long transcript, read to its end",
  async measure({ scope, build, isQuick, rounds, add }) {
    const bytes = (isQuick ? 64 : 1024) * MB;
    const size = isQuick ? "64 MB" : "1 GB";
    const directory = mkdtempSync(join(build.temporary, "transcript-"));
    scope.defer(() => rmSync(directory, { recursive: true, force: true }));
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < 3 * bytes) throw new Error(`there is too little room on the disk for transcripts of ${size}`);
    const rollout = join(directory, "rollout.jsonl");
    const { lines } = appendRollout(rollout, bytes);
    const oneLine = join(directory, "one-line.jsonl");
    writeOneLine(oneLine, bytes);

    const ending = new AbortController();
    scope.defer(() => ending.abort());
    const read =
      (name: string, way: Way, path: string, expected: Found, kib: number = STEPS.usual) =>
      async () => {
        const args = [import.meta.filename, way, path, String(kib)];
        const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: "/", signal: ending.signal });
        const { ms, growthMb, ...found } = JSON.parse(stdout) as Reading;
        if (found.lines !== expected.lines || found.skipped !== expected.skipped)
          throw new Error(`${way} found ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
        return { [`${name} ms`]: ms, [`${name} MB`]: growthMb };
      };
    const samples = await alternate({ count: rounds(2, 3), warmUp: 0, pauseMs: 0 }, [
      read("plain", "plain-lines", rollout, { lines, skipped: 0 }),
      read("usual", "lines", rollout, { lines, skipped: 0 }),
      read("small", "lines", rollout, { lines, skipped: 0 }, STEPS.small),
      read("bytes", "plain-bytes", oneLine, { lines: 0, skipped: 0 }),
      read("passed", "lines", oneLine, { lines: 1, skipped: 1 }, STEPS.small),
    ]);

    const pair = (subject: string, baseline: string, unit: "ms" | "MB") =>
      ({
        target: 14,
        unit,
        subject: samples(`${subject} ${unit}`),
        baseline: samples(`${baseline} ${unit}`),
        baselineName: baseline === "plain" ? "pread of 1 MiB + split + JSON.parse" : "pread of 1 MiB, nothing else",
      }) as const;
    const rate = (figure: string): string =>
      `${Math.round(bytes / MB / (summarize(samples(`${figure} ms`)).median / 1_000))} MB/s`;
    const memory = (subject: string, baseline: string): Row => {
      const row = { ...pair(subject, baseline, "MB"), what: "… peak memory above the start" };
      if (subject === "usual") return compare(row);
      const most = Math.max(...samples(`${subject} MB`));
      const failed = most > MOST_MEMORY_MB ? `${Math.round(most)} MB in one round` : null;
      return compare({ ...row, limit: atMost(MOST_MEMORY_MB, "subject"), failed });
    };
    add(
      compare({
        ...pair("usual", "plain", "ms"),
        what: `${size}, with 1 MiB at a time`,
        note: `${rate("usual")} against ${rate("plain")}`,
      }),
      memory("usual", "plain"),
      compare({
        ...pair("small", "plain", "ms"),
        what: `${size}, every line parsed, ${STEPS.small} KiB at a time`,
        limit: LIMIT,
        note: rate("small"),
      }),
      memory("small", "plain"),
      compare({ ...pair("passed", "bytes", "ms"), what: `one line of ${size} passed over`, note: rate("passed") }),
      memory("passed", "bytes"),
    );
  },
};

/** As Codex writes them: many short events, messages, and now and then a tool's output. Returns how many. */
export function appendRollout(path: string, bytes: number): { readonly lines: number; readonly turns: number } {
  const sentence = "Looked at the failing test, found the off-by-one in the page count, and mended it; “déjà vu”. ";
  let turn = 0;
  // Turns that were over before there was a session do not count for it.
  const writtenAt = Date.now();
  const item = (type: string, payload: object): string =>
    `${JSON.stringify({ timestamp: new Date(writtenAt + turn).toISOString(), type, payload })}\n`;
  let text = "";
  for (turn = 1; text.length < 4 * MB; turn += 1) {
    text += item("event_msg", { type: "task_started", turn_id: `turn-${turn}`, model_context_window: 272_000 });
    text += item("response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: `Please look at test ${turn}.` }],
    });
    for (let call = 0; call < 6; call += 1) {
      const call_id = `call_${turn}_${call}`;
      const args = JSON.stringify({ command: ["bash", "-lc", `sed -n '${call},200p' src/page.ts`] });
      text += item("response_item", { type: "function_call", name: "shell", arguments: args, call_id });
      const output = `${sentence}\n`.repeat(call === 5 ? 300 : 8);
      text += item("response_item", { type: "function_call_output", call_id, output });
      const usage = { input_tokens: 1_000 * call, cached_input_tokens: 900 * call, output_tokens: 40 };
      text += item("event_msg", { type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } });
    }
    text += item("response_item", {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: sentence.repeat(4) }],
    });
    text += item("event_msg", { type: "task_complete", turn_id: `turn-${turn}`, last_agent_message: sentence });
  }
  const block = Buffer.from(text);
  const blocks = Math.ceil(bytes / block.length);
  writeBlocks(path, block, blocks);
  return { lines: (text.split("\n").length - 1) * blocks, turns: (turn - 1) * blocks };
}

function writeOneLine(path: string, bytes: number): void {
  writeBlocks(path, Buffer.alloc(MB, "x"), bytes / MB);
  writeFileSync(path, `\n${JSON.stringify({ type: "event_msg" })}\n`, { flag: "a" });
}

function writeBlocks(path: string, block: Buffer, count: number): void {
  const file = openSync(path, "a", 0o600);
  for (let written = 0; written < count; written += 1) {
    if (writeSync(file, block) !== block.length) throw new Error(`${path} could not be written whole`);
  }
  closeSync(file);
}

type Way = "lines" | "plain-lines" | "plain-bytes";

interface Found {
  readonly lines: number;
  readonly skipped: number;
}

interface Reading extends Found {
  readonly ms: number;
  readonly growthMb: number;
}

const WAYS: Readonly<Record<Way, (path: string, kib: number) => Found | Promise<Found>>> = {
  async lines(path, kib) {
    let cursor: LineCursor | null = null;
    const found = { lines: 0, skipped: 0 };
    for (let hasMore = true; hasMore;) {
      const step = await readNewLines(path, cursor, { mostBytes: kib * 1024 });
      for (const { text } of step.lines) JSON.parse(text);
      found.lines += step.lines.length;
      found.skipped += step.skippedLines;
      ({ cursor, hasMore } = step);
    }
    return found;
  },

  "plain-lines"(path, kib) {
    let lines = 0;
    preadAll(path, kib, (bytes) => {
      const end = bytes.lastIndexOf(10);
      const texts = bytes.toString("utf8", 0, end).split("\n");
      for (const text of texts) JSON.parse(text);
      lines += texts.length;
      return end + 1;
    });
    return { lines, skipped: 0 };
  },

  "plain-bytes"(path, kib) {
    preadAll(path, kib, (bytes) => bytes.length);
    return { lines: 0, skipped: 0 };
  },
};

/** `consume` returns how much of the bytes it is done with. */
function preadAll(path: string, kib: number, consume: (bytes: Buffer) => number): void {
  const buffer = Buffer.allocUnsafe(kib * 1024);
  const file = openSync(path, "r");
  for (let offset = 0; ;) {
    const length = readSync(file, buffer, 0, buffer.length, offset);
    if (length === 0) break;
    offset += consume(buffer.subarray(0, length));
  }
  closeSync(file);
}

async function readAndReport(way: Way, path: string, kib: number): Promise<void> {
  // The kernel forgets the peak of the start (proc(5), clear_refs).
  writeFileSync("/proc/self/clear_refs", "5");
  const before = peakMemoryMb();
  const startedAt = performance.now();
  const found = await WAYS[way](path, kib);
  const ms = performance.now() - startedAt;
  console.log(JSON.stringify({ ...found, ms, growthMb: peakMemoryMb() - before } satisfies Reading));
}

function peakMemoryMb(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}

if (process.argv[1] === import.meta.filename) {
  const [way = "", path = "", kib = ""] = process.argv.slice(2);
  await readAndReport(way as Way, path, Number(kib));
}
