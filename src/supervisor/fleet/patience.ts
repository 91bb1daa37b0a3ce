/**
 * Says which conditions of the inbox have lasted long enough. Ages are measured
 * on the monotonic clock, from when this daemon first noticed a condition: a
 * clock that jumped makes nothing overdue, and after a restart a reminder comes
 * later rather than too early.
 */
import type { Due } from "../../fleet/inbox-condition.ts";
import type { Clock } from "../../platform/clock.ts";

export interface Judged {
  readonly ready: readonly Due[];
  /** When to look again; null: time changes nothing. */
  readonly leftMs: number | null;
}

export interface Patience {
  /** `isShown`: there is an item of this id already. What was told is not taken back. */
  judge(subject: string | null, conditions: readonly Due[], isShown: (itemId: string) => boolean): Judged;
}

export function createPatience(clock: Clock): Patience {
  /** By subject and condition: when it began, on the monotonic clock. */
  const begun = new Map<string | null, ReadonlyMap<string, number>>();

  return {
    judge(subject, conditions, isShown) {
      const now = clock.monotonic();
      const before = begun.get(subject);
      const timed = conditions.filter(({ afterMs }) => afterMs !== undefined);
      const known = new Map(timed.map((due) => [due.condition.id, before?.get(due.condition.id) ?? now]));
      if (known.size === 0) begun.delete(subject);
      else begun.set(subject, known);

      const left: number[] = [];
      const isOver = (id: string, ms: number): boolean => {
        const rest = (known.get(id) ?? now) + ms - now;
        if (rest > 0) left.push(rest);
        return rest <= 0;
      };
      const ready = conditions.flatMap((due): readonly Due[] => {
        const { condition, afterMs } = due;
        const isLacking = afterMs !== undefined && !isShown(condition.id) && !isOver(condition.id, afterMs);
        return isLacking ? [] : [due];
      });
      return { ready, leftMs: left.length === 0 ? null : Math.min(...left) };
    },
  };
}
