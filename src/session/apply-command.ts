/** Applies a command to a session: records what is wanted (if nothing needs doing, it is so at once), or refuses. */
import { amend } from "./amend.ts";
import { answer } from "./apply-approval.ts";
import { askedFor, callerName, SYSTEM } from "./caller.ts";
import { isPausedByBranch } from "./checkout.ts";
import { cutByRestart } from "./cut-short.ts";
import type { Command, Context } from "./input.ts";
import { interrupt } from "./interrupt.ts";
import { isUnseen } from "./notice.ts";
import type { Outcome } from "./outcome.ts";
import { changed, refuse, unchanged } from "./outcome.ts";
import { pauseBecause, resumeBecause } from "./pause.ts";
import { pauseSentence } from "./pause-sentence.ts";
import { isEndWaiting } from "./pending-effect.ts";
import { NO_RESTARTS } from "./restart-record.ts";
import type { Reason, Session, State, StopIntent } from "./session.ts";
import { isEnded } from "./session.ts";
import { setRestartPolicy } from "./set-restart-policy.ts";
import { hold, releaseHold, whyNotEnded } from "./stay.ts";

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
    case "interrupt":
      return interrupt(session, context);
    case "answer":
      return answer(session, command, context);
    case "hold":
      return hold(session, command, context);
    case "release-hold":
      return releaseHold(session, context);
    case "seen":
      return seen(session, command);
    case "rename":
      return rename(session, command);
    case "exported":
      return changed({
        session: amend(session, { notice: { exportedAt: context.now } }),
        events: [{ type: "session-exported", bytes: command.bytes }],
      });
    case "set-restart-policy":
      return setRestartPolicy(session, command.policy, context);
  }
}

function pause(session: Session, command: Extract<Command, { type: "pause" }>, context: Context): Outcome {
  const { wish } = session;
  if (wish.stop !== null || (session.state !== "running" && session.state !== "paused")) {
    return refuse(
      "not-running",
      `Session ${session.identity.name} is ${describe(session)}, so there is nothing to pause; see reeve list.`,
    );
  }
  // What the branch policy paused is paused by somebody now, and stays so when the branch is right again.
  if (wish.desired === "paused" && wish.pauseMode === command.mode && !isPausedByBranch(session))
    return unchanged(session);
  const reason = asked(`pause-${command.mode}`, pauseSentence(command.mode), context);
  return changed(pauseBecause(session, command.mode, reason));
}

function resume(session: Session, context: Context): Outcome {
  const { identity, wish } = session;
  if (isEndWaiting(session))
    return refuse(
      "being-ended",
      `Session ${identity.name} will end after its turn; cancel that with: reeve end ${identity.name} --cancel.`,
    );
  if (wish.stop !== null || (session.state !== "paused" && wish.desired !== "paused")) {
    if (session.state === "running" && wish.stop === null) return unchanged(session);
    return refuse(
      "not-paused",
      `Session ${identity.name} is ${describe(session)}, not paused; use restart to start it again.`,
    );
  }
  if (session.state !== "paused" && session.state !== "running") {
    return refuse("not-paused", `Session ${identity.name} is ${describe(session)}; use restart to start it again.`);
  }
  if (wish.desired === "running") return unchanged(session);
  return changed(resumeBecause(session, asked("resumed", "Resumed on request.", context)));
}

function restart(session: Session, command: Extract<Command, { type: "restart" }>, context: Context): Outcome {
  if (session.wish.stop?.next === "stopped")
    return refuse("being-ended", `Session ${session.identity.name} is being ended; restart it once it has stopped.`);
  if (session.wish.stop?.next === "restart") return unchanged(session);
  if (command.ifGone === true && session.process.exit === null) return unchanged(session);
  const reason = asked("restart", "Restarted on request.", context);
  const next: Session = amend(session, {
    wish: {
      desired: "running",
      pauseMode: null,
      stop: {
        next: "restart",
        graceMs: command.graceMs,
        afterTurn: false,
        by: callerName(context.caller ?? SYSTEM),
        timedOut: null,
      },
      held: null,
    },
    // Whoever asks for it has looked: what died before does not count any more.
    process: { restart: { ...NO_RESTARTS, count: session.process.restart.count } },
    conversation: { cutShort: cutByRestart(session, context.now) },
  });
  return changed({ session: next, events: [{ type: "restart-requested", reason }] });
}

function end(session: Session, command: Extract<Command, { type: "end" }>, context: Context): Outcome {
  const { wish } = session;
  if (session.state === "stopped" && wish.desired === "stopped" && wish.stop === null) return unchanged(session);
  const held = wish.stop?.next === "stopped" ? null : whyNotEnded(session, command.isMeant === true, context);
  if (held !== null) return refuse(held.code, held.message);
  // What is being stopped already is not held back again.
  const afterTurn = command.afterTurn && (wish.stop?.afterTurn ?? true);
  const by = callerName(context.caller ?? SYSTEM);
  const stop: StopIntent = { next: "stopped", graceMs: command.graceMs, afterTurn, by, timedOut: null };
  if (wish.stop?.next === "stopped" && wish.stop.graceMs === stop.graceMs && wish.stop.afterTurn === stop.afterTurn) {
    return unchanged(session);
  }
  const reason = asked("end", "Ended on request.", context);
  const next: Session = amend(session, {
    wish: { desired: "stopped", pauseMode: null, stop },
    process: { restart: { ...session.process.restart, dueAt: null } },
  });
  return changed({ session: next, events: [{ type: "end-requested", reason }] });
}

/** Before the first signal the session is as it was: only the wish goes. */
function cancelEnd(session: Session, context: Context): Outcome {
  const { name } = session.identity;
  if (isEnded(session))
    return refuse("already-ended", `Session ${name} has ended; start it again with: reeve restart ${name}.`);
  if (session.wish.stop?.next !== "stopped")
    return refuse(
      "not-being-ended",
      `Session ${name} is not being ended, so there is nothing to cancel; see reeve list.`,
    );
  if (!isEndWaiting(session))
    return refuse(
      "end-under-way",
      `Session ${name} is being stopped, and that cannot be cancelled; once it has stopped, start it again with: reeve restart ${name}.`,
    );
  const reason = asked("end-cancelled", "Its end was cancelled.", context);
  const isPaused = session.state === "paused";
  const next: Session = amend(session, {
    wish: {
      desired: isPaused ? "paused" : "running",
      pauseMode: isPaused ? (session.process.suspended ? "suspend" : "detach") : null,
      stop: null,
    },
  });
  return changed({ session: next, events: [{ type: "end-cancelled", reason }] });
}

/** What came after the revision that was looked at stays unseen. */
function seen(session: Session, { revision }: Extract<Command, { type: "seen" }>): Outcome {
  const seenRevision = Math.min(revision, session.revision);
  if (!isUnseen(session)) return unchanged(session);
  const looked = amend(session, { notice: { seenRevision } });
  if (isUnseen(looked)) return unchanged(session);
  return changed({ session: looked, events: [{ type: "session-seen" }] });
}

function rename(session: Session, { name }: Extract<Command, { type: "rename" }>): Outcome {
  const { name: from } = session.identity;
  if (name === from) return unchanged(session);
  return changed({
    session: amend(session, { identity: { name } }),
    events: [{ type: "session-renamed", from, name }],
  });
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
  if (session.wish.stop?.next === "stopped") return "being ended";
  if (session.wish.stop?.next === "restart") return "being restarted";
  return STATE_WORDS[session.state];
}

function asked(code: string, text: string, { caller = SYSTEM, now }: Context): Reason {
  return { code, text, evidence: askedFor(caller, now) };
}
