/**
 * Tells a daemon that works on an answer from one that does not answer at all.
 * While a request is open it sends a second, quick one; a daemon that is
 * stopped or hangs answers neither. Loaded only when somebody has waited.
 */
import { systemClock } from "../platform/clock.ts";
import { readDaemonRecord } from "../platform/daemon-record.ts";
import { readProcess } from "../platform/process-table.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { exchange, type Link } from "./request.ts";

/** The daemon answers this in milliseconds, on a busy machine in a second: whoever waits is told within three. */
const PROBE_MS = 1_500;
/** After a probe that was answered the next can wait; each costs the daemon a request. */
const NEXT_LOOKS_MS = [10_000, 30_000, 60_000] as const;
/** One silence may be a machine that was asleep, two a machine that is overloaded. */
const MOST_SILENCES = 3;
const BETWEEN_SILENCES_MS = 3_000;

/** Rejects when the daemon does not answer; with `isEndured` it only says so. Resolves when `over` fires. */
export async function watchSilence(link: Link, isEndured: boolean, over: AbortSignal): Promise<void> {
  let silences = 0;
  for (let answered = 0; !over.aborted;) {
    // One that is stopped need not be asked.
    const isAnswering = !isStopped(link) && (await probe(link, over));
    if (over.aborted) return;
    if (isAnswering) {
      if (silences > 0) link.notice?.("The daemon answers again.");
      silences = 0;
      await pause(NEXT_LOOKS_MS[Math.min(answered++, NEXT_LOOKS_MS.length - 1)] ?? 60_000, over);
      continue;
    }
    silences += 1;
    if (silences === 1) link.notice?.(`${describe(link)} Still waiting.`);
    if (silences >= MOST_SILENCES && !isEndured) throw silent(link);
    await pause(BETWEEN_SILENCES_MS, over);
  }
}

/** Anything but silence counts: a daemon that is gone is noticed by whoever asked it. */
async function probe(link: Link, signal: AbortSignal): Promise<boolean> {
  // No operation: a daemon says so at once, whoever asks, and a session that may call little is not refused anything.
  const request = { method: "GET", path: "/v1", patienceMs: PROBE_MS, signal } as const;
  try {
    await exchange(link, request, { head: () => undefined, body: () => undefined });
    return true;
  } catch (error) {
    return !(error instanceof ReeveError && ["daemon-silent", "daemon-crowded"].includes(error.code));
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await systemClock.sleep(ms, signal).catch(() => undefined);
}

function silent(link: Link): ReeveError {
  return new ReeveError({ code: "daemon-silent", kind: "unavailable", message: describe(link), details: whoIs(link) });
}

function isStopped(link: Link): boolean {
  return STOPPED.has(whoIs(link).state ?? "");
}

/** By a signal, or by a debugger. */
const STOPPED: ReadonlySet<string> = new Set(["T", "t"]);

function describe(link: Link): string {
  const { pid, state } = whoIs(link);
  if (pid === undefined) return "The daemon does not answer; see reeve daemon logs.";
  const who = `The daemon (process ${pid})`;
  if (STOPPED.has(state ?? "")) return `${who} is stopped, so it does not answer; continue it with: kill -CONT ${pid}.`;
  if (state === "D") return `${who} does not answer: it waits for a disk or a network drive.`;
  return `${who} does not answer; see reeve daemon logs, or end it with: kill -9 ${pid}. Sessions run on.`;
}

/** Nothing where that cannot be told. */
function whoIs({ recordPath }: Link): { readonly pid?: number; readonly state?: string } {
  const record = recordPath === undefined ? null : readDaemonRecord(recordPath);
  try {
    const row = record?.pid === undefined ? null : readProcess(record.pid);
    return row === null || row.startTicks !== record?.startTicks ? {} : { pid: row.pid, state: row.state };
  } catch {
    return {};
  }
}
