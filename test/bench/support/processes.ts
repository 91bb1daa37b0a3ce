/** What the kernel says about a process: its memory, its time on a CPU, and whether it has come to rest. */
import { readdirSync, readFileSync } from "node:fs";
import { readProcess } from "../../../src/platform/process-table.ts";
import { sleep } from "./measure.ts";

export interface Memory {
  readonly rss: number;
  /** Shared pages divided among those who share them. */
  readonly pss: number;
  readonly private: number;
}

/** In megabytes. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string): number => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
    if (kilobytes === undefined) throw new Error(`/proc/${pid}/smaps_rollup has no ${name}`);
    return Number(kilobytes) / 1024;
  };
  return { rss: field("Rss"), pss: field("Pss"), private: field("Private_Clean") + field("Private_Dirty") };
}

/** Milliseconds on a CPU, of all threads it has or had (one that ended took its own figure with it), in hundredths of a second. */
export function cpuMsOf(pid: number): number {
  const row = readProcess(pid);
  if (row === null) throw new Error(`process ${pid} is gone`);
  return row.cpuMs;
}

/**
 * Says how many milliseconds on a CPU it has used since. To the nanosecond: an idle daemon uses a dozen hundredths of a
 * second in a minute, too few to compare by. If a thread ended meanwhile, in hundredths all the same.
 */
export function measureCpu(pid: number): () => number {
  const coarse = cpuMsOf(pid);
  const before = threadsOf(pid);
  return () => {
    const now = threadsOf(pid);
    if ([...before.keys()].some((thread) => !now.has(thread))) return cpuMsOf(pid) - coarse;
    return sumOf(now) - sumOf(before);
  };
}

/** Of the threads it has now. */
function threadMsOf(pid: number): number {
  return sumOf(threadsOf(pid));
}

function sumOf(threads: ReadonlyMap<string, number>): number {
  return [...threads.values()].reduce((sum, ms) => sum + ms, 0);
}

function threadsOf(pid: number): ReadonlyMap<string, number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Map(threads.map((id) => [id, nanosecondsOf(`/proc/${pid}/task/${id}/schedstat`) / 1e6]));
}

function nanosecondsOf(path: string): number {
  try {
    return Number(readFileSync(path, "utf8").split(" ", 1)[0]);
  } catch {
    return 0; // It ended meanwhile.
  }
}

export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
      .split(" ")
      .filter((text) => text !== "")
      .map(Number),
  );
}

/** Work left behind by a start or a burst is done when it used next to nothing for a third of a second. */
export async function untilQuiet(pid: number, withinMs: number): Promise<void> {
  const endsAt = performance.now() + withinMs;
  let before = threadMsOf(pid);
  for (let quiet = 0; quiet < 3 && performance.now() < endsAt;) {
    await sleep(110);
    const now = threadMsOf(pid);
    quiet = now - before < 3 ? quiet + 1 : 0;
    before = now;
  }
}
