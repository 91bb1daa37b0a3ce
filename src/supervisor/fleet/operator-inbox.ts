/** The inbox with what it watches that belongs to no session. Another such source goes into the list. */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { QUOTA_AFTER_MS, quotaCondition } from "../../fleet/quota-condition.ts";
import { isClosed } from "../../fleet/quota.ts";
import type { Breaker } from "./breaker.ts";
import { createDiskWatch } from "./disk-watch.ts";
import { createInbox, type HomeSource, type Inbox } from "./inbox-keeper.ts";

export function createOperatorInbox(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Where Reeve writes. */
  readonly directories: readonly string[];
  readonly quota: Pick<Breaker, "quotas" | "sessionsOn">;
  readonly work: HomeSource;
}): Inbox {
  const limits: HomeSource = {
    conditions: () =>
      parts.quota.quotas().flatMap((quota) => {
        if (!isClosed(quota)) return [];
        const sessions = parts.quota.sessionsOn(quota.account).length;
        return [{ condition: quotaCondition(quota, sessions, parts.clock.now()), afterMs: QUOTA_AFTER_MS }];
      }),
  };
  const disks = createDiskWatch({ ...parts, onLook: () => inbox.poke(null) });
  const inbox = createInbox({ ...parts, homeSources: [disks, limits, parts.work] });
  const unfollow = parts.store.log.follow((events) => {
    if (events.some(({ body }) => body.type.startsWith("quota-"))) inbox.poke(null);
  });
  return {
    ...inbox,
    start() {
      inbox.start();
      disks.start();
    },
    async close() {
      unfollow();
      await inbox.close();
    },
  };
}
