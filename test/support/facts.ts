/**
 * What a test wants to know of its home, and how it ends what it started there:
 * asked over the socket, because a process for each question costs more than
 * most tests do. Null when no daemon answers: then the caller runs `reeve`,
 * which starts one.
 */
import { askDaemon } from "./ask-daemon.ts";
import type { EventRow, SessionRow } from "./test-home.ts";

type Home = { readonly socketPath: string };

/** A daemon that is kept from running answers nobody: `reeve` says what there is to say about it. */
const PATIENCE_MS = 10_000;
/** An end that is not proven by then is told as what was left behind. */
const END_SECONDS = 20;

export async function sessionsOf(home: Home): Promise<readonly SessionRow[] | null> {
  return (await look<{ sessions?: SessionRow[] }>(home, "/v1/sessions?all=true"))?.sessions ?? null;
}

export async function eventsOf(home: Home): Promise<readonly EventRow[] | null> {
  const all: EventRow[] = [];
  for (let cursor = 0; ;) {
    const page = await look<{ events?: EventRow[]; cursor: number }>(home, `/v1/events?since=${cursor}`);
    if (page?.events === undefined) return null;
    if (page.events.length === 0) return all;
    all.push(...page.events);
    cursor = page.cursor;
  }
}

export async function daemonPidOf(home: Home): Promise<number | null> {
  return (await look<{ pid?: number }>(home, "/v1/daemon"))?.pid ?? null;
}

/** Ends every session at once, and then the daemon; what each end answered, or null if it must be asked otherwise. */
export async function endEverything(home: Home): Promise<string | null> {
  const listed = await look<{ sessions?: SessionRow[] }>(home, "/v1/sessions");
  if (listed?.sessions === undefined) return null;
  const request = { when: "now", grace_seconds: 0, timeout_seconds: END_SECONDS };
  const ended = await Promise.all(
    listed.sessions.map(({ session_id: id }) =>
      askDaemon<{ done?: boolean }>(home, `/v1/sessions/${id}/end`, request, crypto.randomUUID()),
    ),
  );
  if (ended.some((answer) => answer?.done !== true)) return null;
  await askDaemon(home, "/v1/daemon/stop", {}, crypto.randomUUID());
  return JSON.stringify(ended);
}

function look<T>(home: Home, path: string): Promise<T | null> {
  return askDaemon<T>(home, path, undefined, undefined, AbortSignal.timeout(PATIENCE_MS));
}
