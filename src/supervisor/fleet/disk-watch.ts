/** Looks from time to time how much room is left where Reeve writes, for the inbox. */
import { diskCondition } from "../../fleet/disk-condition.ts";
import type { Condition } from "../../fleet/inbox.ts";
import type { Due } from "../../fleet/inbox-condition.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Room, roomOf } from "../../platform/disk-room.ts";
import type { Log } from "../../platform/log.ts";
import type { Scheduler } from "../ledger/scheduler.ts";

/** A disk fills within minutes at the fastest; asking costs a system call. */
const LOOK_EVERY_MS = 60_000;

export interface DiskWatch {
  start(): void;
  /** Null until the disks were looked at. */
  conditions(): readonly Due[] | null;
}

export function createDiskWatch(parts: {
  readonly directories: readonly string[];
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly onLook: () => void;
  readonly room?: (directory: string) => Promise<Room>;
}): DiskWatch {
  const { clock, scheduler, log, room = roomOf } = parts;
  const found = new Map<string, Condition>();
  let hasLooked = false;

  async function look(): Promise<void> {
    const devices = new Set<number>();
    for (const directory of parts.directories) {
      try {
        const now = await room(directory);
        const isKnown = devices.has(now.device);
        devices.add(now.device);
        const condition = isKnown ? null : diskCondition(directory, now, found.get(directory) ?? null, clock.now());
        if (condition === null) found.delete(directory);
        else found.set(directory, condition);
      } catch (error) {
        // Nothing is known of it now: what was found before still counts.
        log("the room on a disk could not be read", { directory, why: error });
      }
    }
    hasLooked = true;
    parts.onLook();
    scheduler.after(null, "disk", LOOK_EVERY_MS, () => void look());
  }

  return {
    start: () => void look(),
    conditions: () => (hasLooked ? [...found.values()].map((condition) => ({ condition })) : null),
  };
}
