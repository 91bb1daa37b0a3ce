/**
 * Keeps the search index up to date with transcripts, events and mail. It only
 * follows: nothing waits for it, and what it does is done a moment later, in
 * small steps, when the daemon has answered everybody else. Where the index is
 * behind, new or damaged, it reads on from the cursors in it, or from the
 * beginning. It never fails the daemon: what goes wrong is logged once, and
 * tried again later.
 */
import type { Agent } from "../../agent/contract.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { LoggedEvent } from "../../session/event.ts";
import { isEnded, type Session } from "../../session/session.ts";
import type { Ask, Followed, Found, Numbers, NumbersAsk } from "../../search/contract.ts";
import type { SearchIndex } from "../../search/index-process.ts";
import type { Store } from "../../store/contract.ts";
import type { SessionSecrets } from "../attention/session-secrets.ts";
import type { Environment } from "../launch/environment.ts";
import { secretsOfLaunch } from "../launch/environment.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { followEvents } from "./follow-events.ts";
import { followFiles, keyOf, pathsOf } from "./follow-files.ts";
import { forgetRemoved } from "./follow-retention.ts";
import { safeText, type SafeText } from "./safe-text.ts";

export interface Indexer {
  start(): void;
  /** Waits a moment for what has just happened to be in. */
  find(ask: Ask): Promise<Found>;
  numbers(ask: NumbersAsk): Promise<readonly Numbers[]>;
  progress(): Progress;
  close(): Promise<void>;
}

export interface Progress {
  /** False: it is being built, and not everything can be found yet. */
  readonly isComplete: boolean;
  readonly sessionsDone: number;
  readonly sessions: number;
}

/** A turn's end is told, recorded and answered long before. */
const AFTER_EVENT_MS = 1_000;
/** Transcripts of sessions at work grow without an event; some are written after the end of the turn was told. */
const LOOK_MS = 2_500;
/** After its last event a session is looked at for so long. */
const WARM_MS = 6_000;
const AFTER_FAILURE_MS = 30_000;
/** Well after whoever started the daemon has had an answer. */
const AFTER_START_MS = 3_000;
/** A search waits so long for what happened just before it. */
const LATEST_MS = 1_500;
/** Of the time between two steps: building an index takes a fifth of the daemon's time at most. */
const REST = 4;

export interface IndexerParts {
  readonly store: Store;
  readonly index: SearchIndex;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly secrets: Pick<SessionSecrets, "known" | "learn">;
  /** Of the daemon: for sessions whose own is no longer known. */
  readonly environment: Environment;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

export function createIndexer(parts: IndexerParts): Indexer {
  const { store, index, clock, scheduler, log } = parts;
  const { registry } = store;
  /** Sessions whose files may hold something new. */
  const dirty = new Set<string>();
  /** When (monotonic) something was last heard of a session. */
  const warm = new Map<string, number>();
  /** Kept until its last line is in: the rest of the daemon forgets them when the session ends. */
  const held = new Map<string, readonly string[]>();
  let known: Known | null = null;
  let building: { readonly sessions: number } | null = null;
  let needsPruning = false;
  let passing: Promise<void> | null = null;
  let trouble: string | null = null;
  let isClosed = false;
  let stepBegan = 0;

  /** After each step: everybody else first, and for longer if the step took long. */
  async function pause(): Promise<boolean> {
    const took = performance.now() - stepBegan;
    await new Promise<void>((resolve) => {
      if (building === null || took < 0.5) setImmediate(resolve);
      else setTimeout(resolve, Math.min(50, took * REST)).unref();
    });
    stepBegan = performance.now();
    return !isClosed;
  }

  function hear(events: readonly LoggedEvent[]): void {
    for (const { sessionId } of events) {
      if (sessionId === null || registry.get(sessionId) === undefined) continue;
      dirty.add(sessionId);
      warm.set(sessionId, clock.monotonic());
      const secrets = valuesOf(parts.secrets.known(sessionId));
      if (secrets !== null) held.set(sessionId, secrets);
    }
    later(AFTER_EVENT_MS);
  }

  function later(ms: number): void {
    if (!isClosed) scheduler.atMost(null, "search-index", ms, () => void pass());
  }

  /** One at a time; what comes meanwhile is done by the next. */
  function pass(): Promise<void> {
    passing ??= catchUp()
      .then(() => {
        trouble = null;
        coolDown();
      })
      .catch((error: unknown) => {
        known = null;
        const why = messageOf(error);
        if (isClosed) return;
        // Somebody has made it anew: what to read again is found out at once.
        if (error instanceof ReeveError && error.code === "index-rebuilt") return later(0);
        if (why !== trouble) log("the search index could not be kept up to date, trying again later", { why });
        trouble = why;
        later(AFTER_FAILURE_MS);
      })
      .finally(() => (passing = null));
    return passing;
  }

  async function catchUp(): Promise<void> {
    stepBegan = performance.now();
    known ??= await begin();
    const here = known;
    const { epoch, followed } = here;
    const wasRead = await followEvents({
      store,
      index,
      epoch,
      cursor: here.cursor,
      pause,
      onEvents(events, cursor) {
        here.cursor = cursor;
        for (const { sessionId } of events) if (sessionId !== null) here.sessions.add(sessionId);
        needsPruning ||= events.some(({ body }) => body.type === "pruned");
      },
    });
    if (!wasRead) return;
    for (const id of dirty) {
      dirty.delete(id);
      const session = registry.get(id);
      if (session !== undefined && !(await readSession(session, epoch, followed))) return;
    }
    building = null;
    const gone = [...here.sessions].filter((id) => registry.get(id) === undefined);
    if (!(await forgetRemoved({ store, index, pause }, { sessionIds: gone, isPruned: needsPruning }))) return;
    needsPruning = false;
    for (const id of gone) here.sessions.delete(id);
    for (const [key, { sessionId }] of followed) if (!here.sessions.has(sessionId)) followed.delete(key);
    for (const id of held.keys()) if (isRead(registry.get(id), followed)) held.delete(id);
  }

  async function begin(): Promise<Known> {
    let state = await index.state();
    if (state.instance !== store.instance || state.eventCursor > store.log.head()) {
      await index.reset(store.instance);
      state = { ...(await index.state()), damage: state.damage };
    }
    const followed = new Map(state.followed.map((one) => [keyOf(one), one]));
    const unread = registry.all().filter((session) => !isRead(session, followed));
    for (const { id } of unread) dirty.add(id);
    if (state.eventCursor === 0 && store.log.head() > 0) {
      building = { sessions: unread.length };
      const why = state.damage ?? "there was none";
      const isNewHome = unread.every(({ identity }) => identity.createdAt >= startedAt);
      if (state.damage !== null || !isNewHome)
        log("the search index is built from the beginning", { why, sessions: unread.length });
    }
    needsPruning = state.prunedThrough < store.log.prunedThrough();
    const sessions = new Set([...state.sessions, ...unread.map(({ id }) => id)]);
    return { epoch: state.epoch, followed, sessions, cursor: state.eventCursor };
  }

  /** One that cannot be read must not keep the others from being read. */
  async function readSession(session: Session, epoch: string, followed: Map<string, Followed>): Promise<boolean> {
    const agent = parts.agent(session.identity.agent);
    if (agent.impediment !== undefined) return true;
    try {
      const { files } = parts.runtime(session.identity.runtime);
      return await followFiles(session, agent, files, { index, epoch, followed, safeTextOf, isQuiet, pause });
    } catch (error) {
      if (error instanceof ReeveError && INDEX_TROUBLE.has(error.code)) throw error;
      log("a transcript could not be read for the search index", { session: session.id, why: messageOf(error) });
      return pause();
    }
  }

  async function safeTextOf(session: Session): Promise<SafeText> {
    const secrets = held.get(session.id) ?? valuesOf(await parts.secrets.learn(session.id));
    if (secrets !== null) held.set(session.id, secrets);
    const others =
      secrets === null ? (valuesOf(secretsOfLaunch(session.identity.launch, parts.environment)) ?? []) : [];
    return safeText(secrets, others);
  }

  function isQuiet(sessionId: string): boolean {
    return !warm.has(sessionId);
  }

  /** Those that work, or did a moment ago, are looked at again. */
  function coolDown(): void {
    const now = clock.monotonic();
    for (const [id, heardAt] of warm) {
      const session = registry.get(id);
      dirty.add(id);
      if (session === undefined || (!session.conversation.turnOpen && now - heardAt > WARM_MS)) warm.delete(id);
    }
    if (dirty.size > 0) later(LOOK_MS);
  }

  /** What was said until now, or as much as there is after a moment. */
  async function latest(): Promise<void> {
    for (const id of warm.keys()) dirty.add(id);
    const current = (passing ?? Promise.resolve()).then(() => pass());
    await Promise.race([current, new Promise((resolve) => void clock.after(LATEST_MS, () => resolve(undefined)))]);
  }

  async function asking<Result>(ask: () => Promise<Result>): Promise<Result> {
    await latest();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== "index-rebuilt") throw error;
      // It was found to be damaged just now, and is empty: what is in it after a moment is the answer.
      known = null;
      await latest();
      return await ask();
    }
  }

  /** Sessions that are older should have been in. */
  let startedAt = clock.now();
  let unfollow = (): void => undefined;
  return {
    start() {
      startedAt = clock.now();
      unfollow = store.log.follow(hear);
      later(AFTER_START_MS);
    },
    find: (ask) => asking(() => index.find(ask, known?.epoch ?? null)),
    numbers: (ask) => asking(() => index.numbers(ask, known?.epoch ?? null)),
    progress() {
      if (building === null) return { isComplete: known !== null, sessionsDone: 0, sessions: 0 };
      return {
        isComplete: false,
        sessionsDone: Math.max(0, building.sessions - dirty.size),
        sessions: building.sessions,
      };
    },
    async close() {
      isClosed = true;
      unfollow();
      scheduler.cancel(null, "search-index");
      await passing;
      await index.close();
    },
  };
}

interface Known {
  readonly epoch: string;
  readonly followed: Map<string, Followed>;
  /** Of which the index may hold something. */
  readonly sessions: Set<string>;
  cursor: number;
}

const INDEX_TROUBLE: ReadonlySet<string> = new Set(["index-rebuilt", "search-unavailable"]);

function valuesOf(secrets: readonly { readonly value: string }[] | null): readonly string[] | null {
  return secrets?.map(({ value }) => value) ?? null;
}

/** Nothing more is to be expected of its files. */
function isRead(session: Session | undefined, followed: ReadonlyMap<string, Followed>): boolean {
  if (session === undefined) return true;
  if (!isEnded(session)) return false;
  return pathsOf(session).every((path) => followed.get(keyOf({ sessionId: session.id, path }))?.isDone === true);
}
