/** Sentences about a pause. */
import { isPausedByBranch } from "./checkout.ts";
import type { Session } from "./session.ts";

/** Used when it is asked for and again when the session is paused. */
export function pauseSentence(mode: "detach" | "suspend"): string {
  return mode === "detach"
    ? "Paused on request: input is held back, the process runs on."
    : "Paused on request: input is held back and the processes are stopped.";
}

/** For whoever waits for something of it: that it is paused, and what lets it go on; null where it is not. */
export function pausedSentence(session: Session): string | null {
  const { identity, wish, process } = session;
  if (wish.desired !== "paused" || process.exit !== null) return null;
  const resume = `reeve resume ${identity.name}`;
  if (isPausedByBranch(session) && identity.branch !== null)
    return `It is paused because another branch is checked out, and what is sent to it is held back; check out ${identity.branch} there, or run: ${resume}.`;
  const what = isSuspended(session) ? "its processes are stopped" : "what is sent to it is held back";
  return `It is paused, and ${what}; let it go on with: ${resume}.`;
}

/** Or about to be: nothing in it goes on. */
export function isSuspended({ wish, process }: Session): boolean {
  return process.suspended || (wish.desired === "paused" && wish.pauseMode === "suspend");
}
