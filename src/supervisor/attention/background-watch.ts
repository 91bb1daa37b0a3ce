/**
 * Lets a turn end that only a command in the background holds open. A command
 * that has run for long is taken for a server that never ends: it is shown as
 * running, and the turn no longer waits for it. Subagents are waited for
 * however long they take.
 */
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { backgroundText, isBackgroundOnly } from "../../session/background.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { Readings } from "./readings.ts";
import type { Watcher } from "./watcher.ts";

export function createBackgroundWatch(parts: {
  readonly store: Store;
  readonly readings: Readings;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly commandPatienceMs: number;
}): Watcher {
  /** Which turn of a session is waited for. */
  const turns = new Map<string, string>();

  /** The turn that is waited for, by its number and incarnation; null where none is, or something else holds it too. */
  function heldTurn(session: Session): string | null {
    const holding = session.conversation.background.filter(({ holds }) => holds);
    const isHeld = isBackgroundOnly(session) && holding.every(({ kind }) => kind === "command");
    return isHeld ? `${session.process.incarnation} ${session.conversation.turns}` : null;
  }

  async function letGo(sessionId: string, turn: string): Promise<void> {
    const session = parts.store.registry.get(sessionId);
    if (session === undefined || heldTurn(session) !== turn) return;
    const released = session.conversation.background.filter(({ holds }) => holds);
    const seconds = Math.round(parts.commandPatienceMs / 1_000);
    await parts.readings
      .take(session, {
        source: "supervisor",
        detail: `still running in the background after ${seconds} s, so the turn no longer waits for it: ${backgroundText(released)}`,
        activity: "idle",
        background: { released: released.map(({ id }) => id) },
        ...(session.conversation.turnOpen ? { turn: { phase: "completed" as const } } : {}),
      })
      .catch((error: unknown) => parts.log("a turn could not be ended", { session: sessionId, why: messageOf(error) }));
  }

  function stop(sessionId: string): void {
    parts.scheduler.cancel(sessionId, "background");
    turns.delete(sessionId);
  }

  return {
    attend(session) {
      const turn = heldTurn(session);
      if (turn === (turns.get(session.id) ?? null)) return;
      stop(session.id);
      if (turn === null) return;
      turns.set(session.id, turn);
      parts.scheduler.after(session.id, "background", parts.commandPatienceMs, () => void letGo(session.id, turn));
    },
    async leave(session) {
      stop(session.id);
    },
    async close() {
      for (const sessionId of turns.keys()) stop(sessionId);
    },
  };
}
