/** Reports daemons that were killed or died of an error as events, each once. The next daemon does this. */
import type { Death } from "../platform/daemon-record.ts";
import type { Store } from "../store/contract.ts";

/** Where the deaths are that have just been told. */
const RECENT_EVENTS = 500;

/** A daemon that died between this commit and its own note of it leaves the same deaths to be told again. */
export async function tellDeaths(store: Store, deaths: readonly Death[]): Promise<void> {
  const newest = await store.log.read({
    after: Math.max(0, store.log.head() - RECENT_EVENTS),
    limit: RECENT_EVENTS,
    types: ["daemon-died"],
  });
  const isTold = ({ pid, startedAt }: Death): boolean =>
    newest.some(({ body }) => body.type === "daemon-died" && body.pid === pid && body.startedAt === startedAt);
  const untold = deaths.filter((death) => !isTold(death));
  if (untold.length > 0)
    await store.commit({
      events: untold.map((death) => ({ sessionId: null, body: { type: "daemon-died", ...death } })),
    });
}
