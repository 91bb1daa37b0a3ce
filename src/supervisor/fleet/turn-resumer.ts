/**
 * Goes on with turns that failed because of a limit, once that has been reset:
 * one message of Reeve's own for each such turn. It is admitted in one commit
 * with the record that names it, so that no turn is continued twice. If
 * something else happens to the session before it is typed, it is not
 * (session/next-step.ts).
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newMessageId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import { readinessOf } from "../../fleet/due-wake.ts";
import { amend } from "../../session/amend.ts";
import { failedTurnOf } from "../../session/apply-limit.ts";
import type { Session } from "../../session/session.ts";
import { admitMessage, putSession } from "../../store/change.ts";
import type { Commit, Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { ownMessage } from "./own-message.ts";

export const RESUME_TEXT =
  "[reeve] The usage limit that stopped your last turn has been reset. Please continue with the last request. Not from your user.";

/** Between two looks at what only time decides. */
const LOOK_AGAIN_MS = 500;
const TRY_AGAIN_MS = 30_000;

export interface TurnResumer {
  /** It may be able to go on. */
  attend(sessionId: string): void;
}

export function createTurnResumer(parts: {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "commitFor">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly isEnabled: boolean;
  readonly isHeld: (session: Session) => boolean;
}): TurnResumer {
  const { store, ledger, clock, scheduler, log } = parts;
  const deciding = new Set<string>();

  function attend(sessionId: string): void {
    const session = parts.isEnabled ? store.registry.get(sessionId) : undefined;
    if (session === undefined || deciding.has(sessionId) || !isDue(session)) return;
    const { isReady, again } = readiness(session);
    if (again) scheduler.atMost(sessionId, "resume", LOOK_AGAIN_MS, () => attend(sessionId));
    if (!isReady) return;
    deciding.add(sessionId);
    resume(sessionId)
      .catch((error: unknown) => {
        log("continuing a turn failed, trying again", { session: sessionId, why: error });
        scheduler.atMost(sessionId, "resume", TRY_AGAIN_MS, () => attend(sessionId));
      })
      .finally(() => deciding.delete(sessionId));
  }

  function isDue(session: Session): boolean {
    const failed = failedTurnOf(session);
    return failed?.resumesItself === false && session.quota.rejections.length === 0 && !parts.isHeld(session);
  }

  function readiness(session: Session) {
    return readinessOf(session, { open: store.mailbox.open(session.id), now: clock.moment() });
  }

  async function resume(sessionId: string): Promise<void> {
    failpoint("resume.before-commit");
    await ledger.commitFor(sessionId, (session) =>
      isDue(session) && readiness(session).isReady ? admission(session, clock.now()) : null,
    );
    failpoint("resume.after-commit");
  }

  return { attend };
}

function admission(session: Session, now: number): Commit {
  const id = newMessageId();
  const quota = { failed: null, resume: { messageId: id, turn: session.conversation.turns } };
  const message = ownMessage({ id, sessionId: session.id, text: RESUME_TEXT, admittedAt: now });
  const bytes = Buffer.byteLength(RESUME_TEXT);
  const body = { type: "message-admitted", messageId: id, bytes, isResume: true } as const;
  return {
    changes: [putSession(amend({ ...session, revision: session.revision + 1 }, { quota })), admitMessage(message)],
    events: [{ sessionId: session.id, caller: "system", body }],
  };
}
