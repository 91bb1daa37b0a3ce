/**
 * Records that calls were refused, without growing with their number: a caller
 * can be refused thousands of times a second. The first refusals of a kind are
 * events at once. What is like them, and whatever else the same caller is refused
 * once some kinds were told, is counted, and told as one event with the number
 * when the time is up. A count that is still open when the daemon is killed is
 * lost.
 */
import type { HomeEvent } from "../session/home-event.ts";
import { type Caller, callerName } from "../session/caller.ts";
import type { Refusal } from "./contract.ts";
import type { Scheduler } from "./ledger/scheduler.ts";

/** How long refusals are counted before that is told. */
const COUNTED_FOR_MS = 600_000;
/** So many of a kind are told one by one. */
const TOLD_OF_A_KIND = 3;
/** So many kinds of refusal of one caller are told apart in that time. */
const MOST_KINDS = 100;

interface Tally {
  readonly refusal: Refusal;
  /** One by one. */
  told: number;
  /** Since the last event. */
  times: number;
}

interface Refused {
  readonly caller: Caller | null;
  readonly kinds: Map<string, Tally>;
  /** Of further kinds, the last one. */
  others: Tally | null;
}

export interface Refusals {
  note(caller: Caller | null, refusal: Refusal): void;
  /** Tells what is counted so far. */
  tell(): void;
}

export function createRefusals(parts: {
  readonly scheduler: Pick<Scheduler, "after">;
  readonly record: (event: HomeEvent, caller: Caller | undefined) => void;
}): Refusals {
  const refused = new Map<string, Refused>();

  function record(caller: Caller | null, refusal: Refusal, times: number): void {
    parts.record({ type: "call-refused", ...refusal, ...(times > 1 ? { times } : {}) }, caller ?? undefined);
  }

  function tellOf(name: string): void {
    const { caller, kinds, others } = refused.get(name) ?? {
      caller: null,
      kinds: new Map<string, Tally>(),
      others: null,
    };
    refused.delete(name);
    for (const tally of [...kinds.values(), ...(others === null ? [] : [others])])
      if (tally.times > 0) record(caller, tally.refusal, tally.times);
  }

  function of(caller: Caller | null): Refused {
    const name = caller === null ? "" : callerName(caller);
    const known = refused.get(name);
    if (known !== undefined) return known;
    const made: Refused = { caller, kinds: new Map(), others: null };
    refused.set(name, made);
    parts.scheduler.after(null, `refusals of ${name}`, COUNTED_FOR_MS, () => tellOf(name));
    return made;
  }

  return {
    note(caller, refusal) {
      const known = of(caller);
      const kind = JSON.stringify([refusal.operation, refusal.target, refusal.code]);
      const tally = known.kinds.get(kind) ?? { refusal, told: 0, times: 0 };
      if (tally.told === 0 && known.kinds.size < MOST_KINDS) known.kinds.set(kind, tally);
      if (!known.kinds.has(kind)) known.others = { refusal, told: 0, times: (known.others?.times ?? 0) + 1 };
      else if (tally.told === TOLD_OF_A_KIND) tally.times += 1;
      else {
        tally.told += 1;
        record(caller, refusal, 1);
      }
    },
    tell() {
      for (const name of refused.keys()) tellOf(name);
    },
  };
}
