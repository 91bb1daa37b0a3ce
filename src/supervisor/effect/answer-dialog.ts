/**
 * Answers a dialog on an agent's screen (trust this folder?) by the keys of its
 * screen rule. A key answers whatever is shown, so each is pressed only after a
 * look at the screen found this very dialog: the same rule and the same text.
 * It is answered when it is seen to be gone.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Approval, Decision } from "../../session/approval.ts";
import type { Key } from "../../session/input.ts";
import type { AnswerKeys, Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import { targetOf } from "../ledger/target.ts";
import type { AnswerParts } from "./answer.ts";

const LOOK_MS = 150;
/** About 3 s: a dialog is redrawn within milliseconds, on a busy machine within a second or two. */
const LOOKS = 20;

/** What presses the keys, once the dialog was seen. */
export async function prepareChoice(
  parts: AnswerParts,
  session: Session,
  approval: Approval,
  decision: Decision,
): Promise<() => Promise<void>> {
  const press = (keys: readonly Key[]): Promise<void> =>
    parts.adapters.runtime(session.identity.runtime).send(
      targetOf(session),
      keys.map((key) => ({ type: "key", key })),
    );
  const answer = await steadyAnswer(parts, session, approval, decision);
  if (answer === null) throw notShown(session);
  return async () => {
    if (answer.move !== null) {
      await press([answer.move]);
      await requireSelected(parts, session, approval, decision);
    }
    await press(answer.keys);
  };
}

/** Twice in a row: a dialog is drawn before it listens. */
async function steadyAnswer(
  parts: AnswerParts,
  session: Session,
  approval: Approval,
  decision: Decision,
): Promise<AnswerKeys | null> {
  let wasThere = false;
  for (let look = 0; look < LOOKS; look++) {
    const reading = await lookAt(parts, session);
    const isThere = shows(reading, approval);
    if (isThere && wasThere) return reading?.answers?.[decision] ?? null;
    wasThere = isThere;
    await parts.clock.sleep(LOOK_MS);
  }
  return null;
}

/** What would be confirmed now is what was selected: the key that selects it is not pressed a second time. */
async function requireSelected(
  parts: AnswerParts,
  session: Session,
  approval: Approval,
  decision: Decision,
): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    await parts.clock.sleep(LOOK_MS);
    const reading = await lookAt(parts, session);
    if (!shows(reading, approval)) throw notConfirmed(session, "it changed");
    if (reading?.answers?.[decision].move === null) return;
  }
  throw notConfirmed(session, "the choice could not be selected");
}

/** Until it is told that this is over: records that the dialog is gone once two looks in a row did not find it. */
export async function settleWhenClosed(
  parts: AnswerParts,
  session: Session,
  approval: Approval,
  signal: AbortSignal,
): Promise<void> {
  let wasGone = false;
  while (!signal.aborted) {
    const isGone = await lookAt(parts, session).then(
      (reading) => !shows(reading, approval),
      () => false, // a screen that cannot be read shows nothing
    );
    if (isGone && wasGone) {
      const reading: Reading = {
        source: "screen",
        detail: "the dialog is gone from its screen",
        // It was held up in its start; what it does next is told by whoever sees that.
        ...(session.conversation.turns === 0 ? { activity: "starting" } : {}),
        approval: { settled: { id: approval.id, decision: null } },
      };
      await parts.ledger.apply(session.id, { type: "read", incarnation: session.process.incarnation, reading });
      return;
    }
    wasGone = isGone;
    await parts.clock.sleep(LOOK_MS, signal).catch(() => undefined); // told that it is over
  }
}

async function lookAt(parts: AnswerParts, { id }: Session): Promise<Reading | null> {
  const session = parts.store.registry.get(id);
  return session === undefined ? null : parts.attention.look(session);
}

function shows(reading: Reading | null, { id }: Approval): boolean {
  const approval = reading?.approval;
  return approval !== undefined && "requested" in approval && approval.requested.id === id;
}

function notShown({ identity: { name } }: Session): ReeveError {
  return new ReeveError({
    code: "approval-not-on-screen",
    kind: "conflict",
    message: `This dialog is not on the screen of ${name} any more, so no key was pressed; see what it asks now with: reeve approvals ${name}.`,
  });
}

function notConfirmed({ identity: { name } }: Session, why: string): ReeveError {
  return new ReeveError({
    code: "dialog-not-confirmed",
    kind: "conflict",
    message: `The dialog was not answered: ${why}, so nothing was confirmed. See what it asks now with: reeve approvals ${name}.`,
  });
}
