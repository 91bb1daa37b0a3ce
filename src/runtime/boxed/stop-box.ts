/**
 * Ends all processes of a session in its box, and keeps the box: asks each to
 * end, kills those that are left after the grace period, and looks again. What
 * could hide from that look ends with the box.
 */
import type { Clock } from "../../platform/clock.ts";
import type { ProcessRow } from "../../platform/process-table.ts";
import type { StopOptions, StopReport } from "../contract.ts";
import { type BoxProcesses, signal } from "./box-processes.ts";
import type { BoxShell } from "./box-shell.ts";

const POLL_MS = 25;
/** SIGKILL takes effect in milliseconds; five seconds without means that the kernel holds the process (state D). */
const KILL_LIMIT_MS = 5_000;
/** The wrapper ends by itself after its child; it waits until tmux has read what was printed last. */
const WRAPPER_MS = 1_500;

export async function stopBox(
  parts: { readonly shell: BoxShell; readonly look: () => Promise<BoxProcesses>; readonly clock: Clock },
  options: StopOptions,
): Promise<StopReport> {
  const { shell, look, clock } = parts;
  const terminated = new Set<string>();
  const killed = new Set<string>();
  const graceEndsAt = clock.monotonic() + options.graceMs;
  const fresh = (rows: readonly ProcessRow[], told: Set<string>): readonly ProcessRow[] =>
    rows.filter((row) => !told.has(keyOf(row)));

  let { members } = await look();
  while (members.length > 0 && clock.monotonic() < graceEndsAt && options.hurry?.aborted !== true) {
    const untold = fresh(members, terminated);
    // A stopped process only meets the signal once it runs again.
    await signal(shell, untold, "TERM", "CONT");
    for (const row of untold) terminated.add(keyOf(row));
    await clock.sleep(POLL_MS, options.hurry).catch(() => undefined); // hurried: the loop sees it
    ({ members } = await look());
  }
  const killEndsAt = clock.monotonic() + KILL_LIMIT_MS;
  while (members.length > 0 && clock.monotonic() < killEndsAt) {
    await signal(shell, members, "KILL");
    for (const row of members) killed.add(keyOf(row));
    await clock.sleep(POLL_MS);
    ({ members } = await look());
  }
  if (members.length === 0) members = await endWrapper(parts);
  const ended = new Set([...terminated, ...killed]).size;
  return {
    terminated: terminated.size,
    killed: killed.size,
    survivors: members.map(({ pid }) => `process ${pid}`),
    evidence: members.length > 0 ? stillThere(members) : proof(ended, killed.size),
  };
}

/** And what it leaves for a moment (tmux/wrapper.ts says why), or a fork that slipped between two looks. */
async function endWrapper({ shell, look, clock }: Parameters<typeof stopBox>[0]): Promise<readonly ProcessRow[]> {
  const politeUntil = clock.monotonic() + WRAPPER_MS;
  const endsAt = politeUntil + KILL_LIMIT_MS;
  for (;;) {
    const { members, wrapper } = await look();
    const left = wrapper === null ? members : [...members, wrapper];
    if (left.length === 0 || clock.monotonic() > endsAt) return left;
    if (clock.monotonic() > politeUntil) await signal(shell, left, "KILL");
    await clock.sleep(POLL_MS);
  }
}

function proof(ended: number, killed: number): string {
  const how = killed === 0 ? "" : `, ${killed} killed`;
  const what = ended === 0 ? "No process was left" : `${ended === 1 ? "Its process" : `All ${ended} processes`} ended`;
  return `${what}${how} (checked inside its container; removing the container ends whatever hides).`;
}

function stillThere(rows: readonly ProcessRow[]): string {
  const described = rows.map(({ pid, state }) => `${pid} (state ${state})`);
  return `Some of its processes do not end: ${described.join(", ")}.`;
}

function keyOf({ pid, startTicks }: ProcessRow): string {
  return `${pid}.${startTicks}`;
}
