/** What follows when a session's process ended by itself: it is started again after a pause, given up, or left as it is. */
import { amend } from "./amend.ts";
import { type FailureKind, treatmentOf } from "./failure.ts";
import type { Context } from "./input.ts";
import { momentOf } from "./moment.ts";
import type { Change } from "./outcome.ts";
import { attemptOf, decideRestart, dueIn, GIVEN_UP_CODE } from "./restart-policy.ts";
import type { Evidence, Exit, Reason, Session } from "./session.ts";

/** For a dead session whose `process.restart` knows of this death. */
export function followDeath(dead: Session, exit: Exit, context: Context): Change {
  const { identity, wish, process } = dead;
  const { restart } = process;
  const reason = deathReason(exit, process.liveness.evidence);
  const policy = wish.desired === "running" && wish.held === null ? identity.restartPolicy : "never";
  const now = momentOf(context);
  const failures = failuresOf(dead);
  const decision = decideRestart({ policy, exit, failures, record: restart, now, random: context.random });
  if (decision.restart) {
    const { delayMs } = decision;
    const why = saying(reason, `Starting again in ${inSeconds(delayMs)} (${attemptOf(restart, now)}).`);
    const due = dueIn(restart, delayMs, now);
    return {
      session: amend(dead, { reason: why, process: { restart: due } }),
      events: [{ type: "restart-scheduled", dueAt: due.dueAt ?? now.at, reason: why }],
    };
  }
  switch (decision.why) {
    case "policy":
      return {
        session:
          wish.held === null || exit.code === 0
            ? { ...dead, reason }
            : { ...dead, reason: saying(reason, `Not started again: ${wish.held.reason}`) },
        events: [],
      };
    case "futile": {
      const { text, suggestion } = treatmentOf(decision.failure);
      const why = `Not started again, because it would fail the same way: ${text} ${suggestion}`;
      return { session: { ...dead, reason: saying(reason, why) }, events: [] };
    }
    case "too-many": {
      const whose = restart.cause === "shared" ? "what it ran in died" : "it ended";
      const since = new Date(decision.sinceAt).toISOString();
      const why = `Not started again: it was started ${decision.restarts} times since ${since}, and each time ${whose}. Look at its data, then use restart.`;
      return {
        session: { ...dead, state: "error", reason: { ...saying(reason, why), code: GIVEN_UP_CODE } },
        events: [],
      };
    }
  }
}

/** Of the process, and of the last turn if it was one of this process. */
function failuresOf({ process: { failure, startedAt }, conversation: { lastTurn } }: Session): readonly FailureKind[] {
  const isOfThisProcess = (lastTurn?.startedAt ?? 0) >= (startedAt ?? 0);
  const turn = lastTurn?.verdict === "failed" && isOfThisProcess ? lastTurn.failure : null;
  return [failure, turn].filter((kind) => kind !== null);
}

export function deathReason(exit: Exit, evidence: Evidence): Reason {
  return { code: exitCode(exit), text: exitSentence(exit, evidence), evidence };
}

function exitCode(exit: Exit): string {
  if (exit.signal !== null) return "killed";
  if (exit.code === null) return "gone";
  return exit.code === 0 ? "exited" : "failed";
}

function exitSentence(exit: Exit, evidence: Evidence): string {
  if (exit.signal !== null) return `Its process was killed by ${exit.signal}.`;
  if (exit.code === null) return `Its process is gone: ${evidence.detail}.`;
  return `Its process exited with status ${exit.code}.`;
}

export function saying(reason: Reason, more: string): Reason {
  return { ...reason, text: `${reason.text} ${more}` };
}

export function inSeconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}
