/** What is logged of a limit when its record changes. Pure. */
import type { QuotaEvent } from "../session/home-event.ts";
import type { Quota } from "./quota.ts";

/** After a rejection: `changed` are the records that it changed, `sessions` how many draw on the account. */
export function rejectionEvents(changed: readonly Quota[], sessions: number): readonly QuotaEvent[] {
  return [
    ...changed.flatMap((quota) => parkedEvents(quota, sessions)),
    ...changed.flatMap((quota) => renamedEvents(quota, changed)),
  ];
}

function parkedEvents({ account, limit, gate, ...told }: Quota, sessions: number): readonly QuotaEvent[] {
  if (gate?.phase !== "waiting") return [];
  const { confidence, source, text, reportedBy } = told;
  return [
    { type: "quota-parked", account, limit, untilAt: gate.dueAt, confidence, source, text, reportedBy, sessions },
  ];
}

/** Whoever waits for the end of one that nobody had named is told which one it is. */
function renamedEvents({ account, limit, gate }: Quota, changed: readonly Quota[]): readonly QuotaEvent[] {
  const named = changed.find((quota) => quota.limit !== limit && quota.gate?.phase === "waiting");
  if (gate !== null || named === undefined) return [];
  return [{ type: "quota-opened", account, limit, sessions: 0, replacedBy: named.limit }];
}

export function warnedEvents({ account, limit, ...now }: Quota, before: Quota | undefined): readonly QuotaEvent[] {
  const { warned, usedPercent, resetsAt } = now;
  if (warned === null || usedPercent === null || warned === before?.warned) return [];
  return [{ type: "quota-warned", account, limit, usedPercent, resetsAt }];
}
