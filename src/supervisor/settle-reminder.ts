/** A session remembered something: the turn under way needs no reminder any more (agent/reminder.ts). */
import { join } from "node:path";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import { REMINDER_DUE } from "../session/session-directory.ts";
import type { Registry } from "../store/contract.ts";

export function createSettleReminder(parts: {
  readonly registry: Registry;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly log: Log;
}): (sessionId: string) => Promise<void> {
  return async (sessionId) => {
    const session = parts.registry.get(sessionId);
    if (session === undefined) return;
    const { runtime, outputsDir } = session.identity;
    try {
      await parts.runtime(runtime).files.remove(join(outputsDir, REMINDER_DUE));
    } catch (error) {
      // What is remembered is remembered; it is only reminded of it once more than needed.
      parts.log("a reminder could not be taken back", { session: sessionId, why: messageOf(error) });
    }
  };
}
