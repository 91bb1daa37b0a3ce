/** What a command makes of a session: a wish recorded, at once a fact where nothing needs doing, or a refusal. */
import { answer } from "./apply-approval.ts";
import { askedFor, SYSTEM } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Command, Context } from "./input.ts";
import { isUnseen } from "./notice.ts";
import type { Outcome } from "./outcome.ts";
import { changed, refuse, unchanged } from "./outcome.ts";
import { pauseSentence } from "./pause-sentence.ts";
import { isEndWaiting } from "./pending-effect.ts";
import type { Reason, Session, State, StopIntent } from "./session.ts";
import { isEnded } from "./session.ts";

export function applyCommand(session: Session, command: Command, context: Context): Outcome {
  switch (command.type) {
    case "pause":
      return pause(session, command, context);
    case "resume":
      return resume(session, context);
    case "restart":
      return restart(session, command, context);
    case "end":
      return end(session, command, context);
    case "cancel-end":
      return cancelEnd(session, context);
    case "answer":
      return answer(session, command, context);
    case "seen":
      return seen(session, command);
    case "rename":
      return rename(session, command);
  }
}

function pause(session: Session, command: Extract<Command, { type: "pause" }>, context: Context): Outcome {
  if (session.stop !== null || (session.state !== "running" && session.state !== "paused")) {
    return refuse(
      "not-running",
      `Session ${session.name} is ${describe(session)}, so there is nothing to pause; see reeve list.`,
    );
  }
  if (session.desired === "paused" && session.pauseMode === command.mode) return unchanged(session);
  const reason = asked(`pause-${command.mode}`, pauseSentence(command.mode), context);
  const wished: Session = { ...session, desired: "paused", pauseMode: command.mode };
  const requested: SessionEvent = { type: "pause-requested", reason };
  if (command.mode === "suspend" || session.suspended) return changed({ session: wished, events: [requested] });
  if (session.state === "paused") return changed({ session: { ...wished, reason }, events: [requested] });
  return changed({
    session: { ...wished, state: "paused", reason },
    events: [requested, { type: "session-paused", reason }],
  });
}

function resume(session: Session, context: Context): Outcome {
  if (isEndWaiting(session))
    return refuse(
      "being-ended",
      `Session ${session.name} is to end after its turn; take that back with: reeve end ${session.name} --cancel.`,
    );
  if (session.stop !== null || (session.state !== "paused" && session.desired !== "paused")) {
    if (session.state === "running" && session.stop === null) return unchanged(session);
    return refuse(
      "not-paused",
      `Session ${session.name} is ${describe(session)}, not paused; use restart to start it again.`,
    );
  }
  if (session.state !== "paused" && session.state !== "running") {
    return refuse("not-paused", `Session ${session.name} is ${describe(session)}; use restart to start it again.`);
  }
  if (session.desired === "running") return unchanged(session);
  const reason = asked("resumed", "Resumed on request.", context);
  const wished: Session = { ...session, desired: "running", pauseMode: null };
  const requested: SessionEvent = { type: "resume-requested", reason };
  if (session.suspended) return changed({ session: wished, events: [requested] });
  if (session.state === "running") return changed({ session: wished, events: [requested] });
  return changed({
    session: { ...wished, state: "running", reason },
    events: [requested, { type: "session-resumed", reason }],
  });
}

function restart(session: Session, command: Extract<Command, { type: "restart" }>, context: Context): Outcome {
  if (session.stop?.next === "stopped")
    return refuse("being-ended", `Session ${session.name} is being ended; restart it once it has stopped.`);
  if (session.stop?.next === "restart") return unchanged(session);
  const reason = asked("restart", "Restarted on request.", context);
  const next: Session = {
    ...session,
    desired: "running",
    pauseMode: null,
    stop: { next: "restart", graceMs: command.graceMs, afterTurn: false },
    held: null,
    restart: { ...session.restart, dueAt: null },
  };
  return changed({ session: next, events: [{ type: "restart-requested", reason }] });
}

function end(session: Session, command: Extract<Command, { type: "end" }>, context: Context): Outcome {
  if (session.state === "stopped" && session.desired === "stopped" && session.stop === null) return unchanged(session);
  // What is being stopped already is not held back again.
  const afterTurn = command.afterTurn && (session.stop?.afterTurn ?? true);
  const stop: StopIntent = { next: "stopped", graceMs: command.graceMs, afterTurn };
  if (
    session.stop?.next === "stopped" &&
    session.stop.graceMs === stop.graceMs &&
    session.stop.afterTurn === stop.afterTurn
  ) {
    return unchanged(session);
  }
  const reason = asked("end", "Ended on request.", context);
  const next: Session = {
    ...session,
    desired: "stopped",
    pauseMode: null,
    stop,
    restart: { ...session.restart, dueAt: null },
  };
  return changed({ session: next, events: [{ type: "end-requested", reason }] });
}

/** Before the first signal the session is as it was: only the wish goes. */
function cancelEnd(session: Session, context: Context): Outcome {
  const { name } = session;
  if (isEnded(session))
    return refuse("already-ended", `Session ${name} has ended; start it again with: reeve restart ${name}.`);
  if (session.stop?.next !== "stopped")
    return refuse(
      "not-being-ended",
      `Session ${name} is not being ended, so there is nothing to take back; see reeve list.`,
    );
  if (!isEndWaiting(session))
    return refuse(
      "end-under-way",
      `Session ${name} is being stopped, and that cannot be taken back; once it has stopped, start it again with: reeve restart ${name}.`,
    );
  const reason = asked("end-cancelled", "Its end was taken back.", context);
  const isPaused = session.state === "paused";
  const next: Session = {
    ...session,
    desired: isPaused ? "paused" : "running",
    pauseMode: isPaused ? (session.suspended ? "suspend" : "detach") : null,
    stop: null,
  };
  return changed({ session: next, events: [{ type: "end-cancelled", reason }] });
}

/** What came after the revision that was looked at stays unseen. */
function seen(session: Session, { revision }: Extract<Command, { type: "seen" }>): Outcome {
  const seenRevision = Math.min(revision, session.revision);
  if (!isUnseen(session) || session.notice.newsRevision > seenRevision) return unchanged(session);
  return changed({
    session: { ...session, notice: { ...session.notice, seenRevision } },
    events: [{ type: "session-seen" }],
  });
}

function rename(session: Session, { name }: Extract<Command, { type: "rename" }>): Outcome {
  if (name === session.name) return unchanged(session);
  return changed({ session: { ...session, name }, events: [{ type: "session-renamed", from: session.name, name }] });
}

const STATE_WORDS = {
  planned: "only planned",
  starting: "still starting",
  running: "running",
  paused: "paused",
  error: "dead (error)",
  stopped: "stopped",
} as const satisfies Record<State, string>;

function describe(session: Session): string {
  if (session.stop?.next === "stopped") return "being ended";
  if (session.stop?.next === "restart") return "being restarted";
  return STATE_WORDS[session.state];
}

function asked(code: string, text: string, { caller = SYSTEM, now }: Context): Reason {
  return { code, text, evidence: askedFor(caller, now) };
}
