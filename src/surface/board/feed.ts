/**
 * The sessions as they are, live: the list once, then the event stream, and of
 * each session that an event is about its new state. After the daemon was lost
 * everything is asked for again.
 *
 * What an agent says is no event: it is read from its transcript, during a turn
 * and shortly after its end. So a session is looked at again a while after an
 * event, and while its turn is open. Where nothing happens, nothing is asked.
 */
import type { Client } from "../../client/create-client.ts";
import type { EventView, SessionView } from "../../client/operation-types.ts";
import { systemClock } from "../../platform/clock.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { ApprovalView, Board } from "./model.ts";

export interface FeedEvents {
  /** All of it, each time. */
  onSessions(sessions: ReadonlyMap<string, SessionView>, approvals: readonly ApprovalView[]): void;
  /** Something happened in these sessions. */
  onTouched(sessions: ReadonlySet<string>): void;
  onLink(link: Board["link"], why: string | null): void;
}

export interface Feed {
  /** Asks for everything again, and starts the daemon if it was stopped. */
  refresh(): void;
  /** Over when the signal fires. */
  readonly over: Promise<void>;
}

/** More changed sessions than this are asked for together. */
const MOST_SINGLE = 8;
/** Between two looks, while events rain; the first of a quiet time is looked at right away. */
const PAUSE_MS = 50;
const LIST_PAUSE_MS = 250;
const RETRY_MS = 1_000;
/** By then the last words of a turn are read. */
const AGAIN_MS = 2_000;

/** Events about no session after which many may look different. */
const CHANGES_ALL: ReadonlySet<string> = new Set(["store-rebuilt", "runtime-lost", "quota-parked", "quota-opened"]);

type FeedClient = Pick<Client, "listSessions" | "getSession" | "listApprovals" | "followEvents">;

interface FeedClients {
  /** For the first look, and when the person asks for one: it may start the daemon. */
  readonly client: Pick<FeedClient, "listSessions">;
  readonly watcher: FeedClient;
}

export function startFeed({ client, watcher }: FeedClients, events: FeedEvents, signal: AbortSignal): Feed {
  let sessions: ReadonlyMap<string, SessionView> = new Map();
  let approvals: readonly ApprovalView[] = [];
  /** An event was about them. */
  const changed = new Set<string>();
  /** When to look at them again (monotonic). */
  const again = new Map<string, number>();
  let isAllChanged = false;
  /** A person wants to see everything anew. */
  let isAsked = true;
  let isLost = false;
  let looking: Promise<void> | null = null;
  let forgetLater = (): void => undefined;
  signal.addEventListener("abort", () => forgetLater());

  const look = (): void => {
    looking ??= lookAtChanges().finally(() => {
      looking = null;
      if (!signal.aborted && (changed.size > 0 || isAllChanged)) look();
      else lookAgain([]);
    });
  };

  /** More may be known of them soon, without an event; and of those whose turn is open. */
  function lookAgain(ids: Iterable<string>): void {
    const dueAt = systemClock.monotonic() + AGAIN_MS;
    for (const id of ids) again.set(id, dueAt);
    for (const [id, session] of sessions) if (session.turn_open && !again.has(id)) again.set(id, dueAt);
    forgetLater();
    if (again.size === 0 || signal.aborted) return;
    // While the daemon is away nothing is asked: that would start one that was stopped on purpose.
    const leftMs = Math.ceil(Math.min(...again.values()) - systemClock.monotonic());
    forgetLater = systemClock.after(leftMs, () => void (isLost || look()));
  }

  function takeDue(): readonly string[] {
    const now = systemClock.monotonic();
    const due = [...again].flatMap(([id, at]) => (at <= now ? [id] : []));
    for (const id of due) again.delete(id);
    return due;
  }

  async function lookAtChanges(): Promise<void> {
    const touched = new Set(changed);
    const ids = new Set([...touched, ...takeDue()]);
    const isList = isAllChanged || ids.size > MOST_SINGLE;
    changed.clear();
    isAllChanged = false;
    try {
      const before = [...ids].some((id) => isAsking(sessions.get(id)));
      if (isList) sessions = byId((await list()).sessions);
      else sessions = withNewest(sessions, await Promise.all([...ids].map((id) => look1(id))));
      if (before || isList || [...ids].some((id) => isAsking(sessions.get(id)))) await readApprovals();
      events.onSessions(sessions, approvals);
      events.onTouched(touched);
      lookAgain(touched);
    } catch (error) {
      if (signal.aborted) return;
      // What the stream tells next brings it back; until then what is shown may be old, and that is said.
      isAllChanged = true;
      events.onLink("lost", messageOf(error));
      await pause(RETRY_MS, signal);
      return;
    }
    await pause(isList ? LIST_PAUSE_MS : PAUSE_MS, signal);
  }

  async function look1(id: string): Promise<Found> {
    try {
      const session: SessionView = await watcher.getSession({ session: id }, { signal });
      return { id, session: session.desired === "stopped" && session.state === "stopped" ? null : session };
    } catch (error) {
      if (error instanceof ReeveError && error.code === "unknown-session") return { id, session: null };
      throw error;
    }
  }

  function list(): ReturnType<FeedClient["listSessions"]> {
    const asking = isAsked ? client : watcher;
    isAsked = false;
    return asking.listSessions({}, { signal });
  }

  async function readApprovals(): Promise<void> {
    const isAnyAsked = [...sessions.values()].some(isAsking);
    approvals = isAnyAsked ? (await watcher.listApprovals({}, { signal })).approvals : [];
  }

  async function begin(): Promise<number> {
    const listed = await list();
    sessions = byId(listed.sessions);
    await readApprovals();
    isLost = false;
    events.onLink("live", null);
    events.onSessions(sessions, approvals);
    lookAgain([]);
    return listed.cursor;
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        const since = await begin();
        let wasLost = false;
        const onLink = (link: "reached" | "lost"): void => {
          isLost = link === "lost";
          if (isLost) events.onLink("lost", null);
          if (link === "reached" && wasLost) {
            events.onLink("live", null);
            isAllChanged = true;
            look();
          }
          wasLost = link === "lost";
        };
        for await (const event of watcher.followEvents({ since }, { signal, onLink })) note(event);
      } catch (error) {
        if (signal.aborted) return;
        events.onLink("lost", messageOf(error));
        await pause(RETRY_MS, signal);
      }
    }
  }

  function note({ session_id: id, type }: EventView): void {
    if (id !== null) changed.add(id);
    else if (CHANGES_ALL.has(type)) isAllChanged = true;
    else return;
    look();
  }

  return {
    refresh() {
      isAllChanged = true;
      isAsked = true;
      look();
    },
    over: follow(),
  };
}

interface Found {
  readonly id: string;
  readonly session: SessionView | null;
}

/** Its own dialogs are no approvals, and are listed with them. */
function isAsking(session: SessionView | undefined): boolean {
  return session !== undefined && (session.approvals > 0 || session.activity === "awaiting-input");
}

function byId(sessions: readonly SessionView[]): ReadonlyMap<string, SessionView> {
  return new Map(sessions.map((session) => [session.session_id, session]));
}

/** An answer may be older than what is known already. */
function withNewest(
  sessions: ReadonlyMap<string, SessionView>,
  found: readonly Found[],
): ReadonlyMap<string, SessionView> {
  const next = new Map(sessions);
  for (const { id, session } of found) {
    if (session === null) next.delete(id);
    else if (session.revision >= (next.get(id)?.revision ?? 0)) next.set(id, session);
  }
  return found.every(({ id }) => sessions.has(id)) ? next : byId([...next.values()].toSorted(byCreation));
}

/** As the list is; one that was ended and is started again has its old place. */
function byCreation({ created_at: one }: SessionView, { created_at: other }: SessionView): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await systemClock.sleep(ms, signal).catch(() => undefined);
}
