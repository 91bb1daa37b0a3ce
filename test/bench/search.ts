/**
 * Target 12: a search over a million lines of a transcript (1 GB), asked of the
 * daemon, against `grep -c` of the same bytes. The index is filled beforehand
 * by the same steps that the daemon takes, in larger batches.
 */
import { execFile } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { practiceAgent } from "../../src/agent/practice/practice-agent.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { locateHome } from "../../src/platform/home.ts";
import { readNewLines, type LineCursor } from "../../src/platform/line-cursor.ts";
import { createIndexProcess } from "../../src/search/index-process.ts";
import type { Session } from "../../src/session/session.ts";
import { safeText } from "../../src/supervisor/index/safe-text.ts";
import { readStep } from "../../src/supervisor/index/transcript-step.ts";
import { createBenchHome } from "./support/bench-home.ts";
import { createHttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { restingSession, seedSessions } from "./support/seed.ts";
import type { Target } from "./support/target.ts";

const run = promisify(execFile);
const MB = 1024 * 1024;
const WORDS = 20_000;
const WORDS_IN_LINE = 140;

/** What is asked of Reeve, and what of grep. */
const QUESTIONS = {
  "a rare word": ["needle77777", "needle77777"],
  "a word in every tenth line": ["haystack", "haystack"],
  "two words": ["haystack worda0", "haystack"],
  "a phrase": ['"haystack of hay"', "haystack of hay"],
  "the beginning of a word": ["needle7777*", "needle7777"],
} as const;

export const search: Target = {
  number: 12,
  title: "search over 1M lines of a transcript",
  // The index alone takes nine minutes to fill on a busy machine.
  longestMs: 1_800_000,
  async measure({ scope, build, isQuick, rounds, add }) {
    const home = createBenchHome(scope, build);
    const lines = isQuick ? 50_000 : 1_000_000;
    const { bavail, bsize } = statfsSync(home.dir);
    if (bavail * bsize < lines * 4_096) throw new Error("there is too little room for a transcript and its index");
    const path = join(home.dir, "transcript.jsonl");
    writeTranscript(path, lines);
    const session = restingSession(home.dir, 1, { agent: "practice", transcriptPath: path });
    await seedSessions(home.dir, [session]);
    const { perSecond, bytes } = await fillIndex(home.dir, session, path);
    const daemon = await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const ask = (text: string) => client.get(`/v1/search?text=${encodeURIComponent(text)}`);
    const first = JSON.parse((await ask("needle77")).toString()) as { readonly found: readonly unknown[] };
    if (first.found.length !== 1) throw new Error(`a line that is there is not found: ${first.found.length}`);
    await untilQuiet(daemon.pid, 10_000);
    for (const [what, [text, pattern]] of Object.entries(QUESTIONS)) {
      const samples = await alternate({ count: rounds(20, 8), warmUp: 2, pauseMs: 0 }, [
        async () => ({ grep: await timed(() => run("grep", ["-c", pattern, path]).catch(() => null)) }),
        async () => ({ reeve: await timed(() => ask(text)) }),
      ]);
      add(
        compare({
          target: 12,
          what,
          subject: samples("reeve"),
          baseline: samples("grep"),
          baselineName: `grep -c, ${lines} lines`,
          ...(isQuick ? {} : { limit: atMost(0.05) }),
          note: `index ${Math.round(bytes / MB)} MB, ${Math.round(perSecond)} lines/s`,
        }),
      );
    }
  },
};

/** 1 KB a line; words come as often as words do: few of them often. */
function writeTranscript(path: string, lines: number): void {
  const file = openSync(path, "w", 0o600);
  let seed = 42;
  const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) / 0x7fff_ffff;
  let block = "";
  for (let line = 0; line < lines; line += 1) {
    const words = Array.from({ length: WORDS_IN_LINE }, () => `word${Math.floor(random() ** 3 * WORDS).toString(36)}`);
    if (line % 10 === 0) words.splice(9, 0, "haystack", line % 100 === 0 ? "of hay" : "of straw");
    const at = new Date(1_790_000_000_000 + line * 1_000).toISOString();
    const text = `${words.join(" ")} needle${line}`;
    block += `${JSON.stringify({ type: line % 2 === 0 ? "user" : "assistant", turn: line, at, text })}\n`;
    if (block.length > MB || line === lines - 1) {
      writeSync(file, block);
      block = "";
    }
  }
  closeSync(file);
}

async function fillIndex(homeDir: string, session: Session, path: string) {
  const { searchPath, instancePath } = locateHome({ REEVE_HOME: homeDir });
  const index = createIndexProcess(searchPath, systemClock);
  const keepAlive = setInterval(() => undefined, 60_000);
  await index.reset(readFileSync(instancePath, "utf8").trim());
  const { epoch } = await index.state();
  const agent = practiceAgent("", process.execPath);
  const about = { [session.id]: { agent: "practice", role: "agent" } };
  let cursor: LineCursor | null = null;
  let count = 0;
  const startedAt = performance.now();
  for (let hasMore = true; hasMore;) {
    const read: Awaited<ReturnType<typeof readNewLines>> = await readNewLines(path, cursor, { mostBytes: 2 * MB });
    ({ cursor, hasMore } = read);
    count += read.lines.length;
    const { entries } = readStep(session, agent, read.lines, { total: null, safe: safeText([], []) });
    const followed = { sessionId: session.id, path, cursor, total: null, isDone: false };
    await index.write({ epoch, entries, followed, about });
  }
  const perSecond = (count / (performance.now() - startedAt)) * 1_000;
  await index.close();
  clearInterval(keepAlive);
  return { perSecond, bytes: statSync(searchPath).size };
}
