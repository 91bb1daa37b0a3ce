/**
 * Stops the turn under way by the way that its agent has for it: its protocol,
 * or the keys that a person would press. Messages that interrupt use it, those
 * who ask for nothing else, and time-outs.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { INTERRUPT_AGAIN_MS } from "../../session/next-step.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Attention } from "../attention/attention.ts";
import type { Adapters } from "../launch/adapters.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { targetOf } from "../ledger/target.ts";
import { until } from "../ledger/until.ts";

export interface InterruptionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly adapters: Pick<Adapters, "agent" | "runtime">;
  readonly attention: Pick<Attention, "channel" | "look">;
}

/** Asks once for the end of its turn, and waits for it at most so long. */
export async function interruptOnce(parts: InterruptionParts, session: Session, waitMs: number): Promise<void> {
  const channel = parts.attention.channel(session.id);
  const keys = parts.adapters.agent(session.identity.agent).interrupt;
  // A turn that its protocol cannot name is interrupted as a person would.
  if (channel !== null && channel.lacks() === null) await channel.interrupt();
  else if (keys !== null) await parts.adapters.runtime(session.identity.runtime).send(targetOf(session), keys);
  await until(parts, () => !isStillUnderWay(parts, session), waitMs);
}

/** A key is lost now and then, in a redraw of the terminal; more often than this it is no bad luck. */
const MOST_TRIES = 3;

/** On request or for a time-out: only this turn, until it is over, somebody ends the session, or it was tried often enough. */
export async function stopTurn(
  parts: InterruptionParts & { readonly ledger: Ledger },
  session: Session,
): Promise<void> {
  const seen = await parts.attention.look(session).catch(() => null);
  // The key would answer a question that no source has told of yet.
  if (seen?.activity === "awaiting-approval" || seen?.activity === "awaiting-input")
    throw new Error("a question is on its screen, so its turn is not interrupted now");
  let problem = "its turn went on";
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (!isStillUnderWay(parts, session)) return;
    failpoint("interrupt.before-keys");
    try {
      await interruptOnce(parts, session, INTERRUPT_AGAIN_MS);
    } catch (error) {
      problem = messageOf(error);
      await until(parts, () => !isStillUnderWay(parts, session), INTERRUPT_AGAIN_MS);
    }
    failpoint("interrupt.after-effect");
  }
  if (!isStillUnderWay(parts, session)) return;
  const detail = `Reeve tried ${MOST_TRIES} times to interrupt its turn without success: ${problem}`;
  await parts.ledger.apply(session.id, {
    type: "interrupt-failed",
    incarnation: session.process.incarnation,
    turn: session.conversation.turns,
    evidence: { source: "supervisor", detail, at: parts.clock.now() },
  });
}

/** The same turn of a living process that nobody is about to end. */
function isStillUnderWay({ store }: InterruptionParts, { id, process, conversation: { turns } }: Session): boolean {
  const now = store.registry.get(id);
  if (now === undefined || now.process.incarnation !== process.incarnation || now.process.exit !== null) return false;
  const isEnding = now.wish.stop !== null && !now.wish.stop.afterTurn;
  return now.conversation.turnOpen && now.conversation.turns === turns && !isEnding;
}
