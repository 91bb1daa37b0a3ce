/**
 * Says what is missing where a capture proxy was killed: what it had not yet
 * written of the traffic of a session. A log that it left open shows that
 * (capture/open-mark.ts). It is told as an event, and as a line of the log
 * itself. A daemon that is killed in between tells the rest, once.
 */
import { openRawLog, lastRecorded, RAW_LOG_NAME } from "../../capture/raw-log.ts";
import { openSince, removeMark } from "../../capture/open-mark.ts";
import type { Clock } from "../../platform/clock.ts";
import { iso } from "../../platform/instant.ts";
import { RAW_LOG_BYTES } from "../../session/persistence.ts";
import type { Session } from "../../session/session.ts";
import type { EventLog } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface CaptureGaps {
  /** Only while no proxy runs: the log of one that does is open, too. */
  tell(session: Session): Promise<void>;
}

export function createCaptureGaps(parts: {
  readonly log: Pick<EventLog, "latest">;
  readonly ledger: Pick<Ledger, "commitFor">;
  readonly clock: Clock;
}): CaptureGaps {
  async function tellEvent(sessionId: string, lastAt: number, againAt: number): Promise<void> {
    const told = await parts.log.latest({
      sessionId,
      types: ["capture-interrupted"],
      fits: (body) => body.type === "capture-interrupted" && body.lastAt === lastAt,
    });
    if (told !== undefined) return;
    const body = { type: "capture-interrupted", lastAt, againAt } as const;
    await parts.ledger.commitFor(sessionId, () => ({ events: [{ sessionId, body }] }));
  }

  async function tellLine(directory: string, lastAt: number, againAt: number): Promise<void> {
    let why: string | null = null;
    const log = openRawLog({
      directory,
      capBytes: RAW_LOG_BYTES,
      captured: "proxy",
      clock: parts.clock,
      told: { failed: (reason) => (why = reason), resumed: () => undefined },
    });
    log.write({ kind: "gap", captured: "proxy", from: iso(lastAt), to: iso(againAt) });
    await log.close();
    if (why !== null) throw new Error(`${RAW_LOG_NAME} cannot be written: ${String(why)}`);
  }

  return {
    async tell({ id, identity: { outputsDir } }) {
      const since = openSince(outputsDir);
      if (since === null) return;
      const last = lastRecorded(outputsDir);
      if (last?.kind !== "gap" || last.at < since) {
        const lastAt = Math.max(since, last?.at ?? 0);
        const againAt = parts.clock.now();
        await tellEvent(id, lastAt, againAt);
        await tellLine(outputsDir, lastAt, againAt);
      }
      removeMark(outputsDir);
    },
  };
}
