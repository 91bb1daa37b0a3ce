/**
 * Waits for what only the log can tell. More events may be committed while the
 * log is read. So the waiter follows the sessions first and reads the log
 * afterwards; then no event is missed in between.
 */
import type { Clock } from "../platform/clock.ts";
import { ASK_TYPES, askOf, isAsk } from "../session/ask.ts";
import { emptyCourse, follow } from "../session/course.ts";
import type { EventType, LoggedEvent } from "../session/event.ts";
import type { Judgement, Subject } from "../session/judge-wait.ts";
import { judge } from "../session/judge-wait.ts";
import type { WakeReason } from "../session/wake.ts";
import type { EventLog, Store } from "../store/contract.ts";
import type { OperationContext } from "./contract.ts";

export interface Found {
  readonly reason: WakeReason | "nothing-to-wait-for";
  readonly isDone: boolean;
  readonly ok: boolean;
  readonly why: string | null;
  /** With nothing to wait for: something was asked of it that should have begun a turn. */
  readonly isUnanswered: boolean;
  readonly seq: number;
}

export interface Waiter {
  readonly sessionId: string;
  /** Reads what is new. Once it has, what is found agrees with the session's record and messages of that moment. */
  look(): Promise<void>;
  found(): Found | null;
  /** Time may decide, without an event. */
  isTimed(): boolean;
  /** Where to go on when nothing was found. */
  cursor(): { readonly sameAsk: number; readonly afterAll: number };
}

/** Read in pages, so that a cursor from long ago costs time but not memory. */
const PAGE = 1_000;

/** A typed message or a first prompt from which no turn comes makes no event: time decides, so it is looked at again. */
const LOOK_AGAIN_MS = 1_000;

/** Looks until it is enough, the time is up or nobody listens any more. What is found is of the moment it returns. */
export async function waitOn(
  context: Pick<OperationContext, "store" | "clock" | "signal">,
  sessionIds: ReadonlySet<string>,
  request: {
    readonly since: number | undefined;
    readonly wanted: ReadonlySet<WakeReason>;
    readonly timeoutMs: number;
    readonly isEnough: (waiters: readonly Waiter[]) => boolean;
  },
): Promise<readonly Waiter[]> {
  const { store, clock, signal } = context;
  const deadline = clock.monotonic() + request.timeoutMs;
  // Before anything is read: what is committed meanwhile is looked at again.
  const news = followSessions(store.log, clock, sessionIds);
  try {
    const waiters = await Promise.all([...sessionIds].map((id) => createWaiter(context, id, { ...request, news })));
    for (;;) {
      const leftMs = deadline - clock.monotonic();
      await Promise.all(waiters.map((waiter) => waiter.look()));
      if (request.isEnough(waiters) || leftMs <= 0 || signal.aborted) return waiters;
      const isTimed = waiters.some((waiter) => waiter.isTimed());
      await news.next(isTimed ? Math.min(leftMs, LOOK_AGAIN_MS) : leftMs, signal);
    }
  } finally {
    news.close();
  }
}

async function createWaiter(
  { store, clock }: Pick<OperationContext, "store" | "clock">,
  sessionId: string,
  request: {
    readonly since: number | undefined;
    readonly wanted: ReadonlySet<WakeReason>;
    readonly news: Pick<News, "newestOf">;
  },
): Promise<Waiter> {
  const subject = await subjectOf(store, sessionId, request.since);
  const from = subject.kind === "cursor" ? (request.since ?? 0) : (subject.ask?.seq ?? 0);
  const course = emptyCourse(from);
  let found: Found | null = null;
  let isTimed = false;

  /** Until nothing of this session is committed that was not read: its record must not know more than was read here. */
  async function read(): Promise<void> {
    do {
      const head = store.log.head();
      for (let after = course.seq; ;) {
        const events = await store.log.read({ after, limit: PAGE, sessionIds: [sessionId] });
        for (const event of events) follow(course, event);
        after = events.at(-1)?.seq ?? after;
        if (events.length < PAGE) break;
      }
      course.seq = Math.max(course.seq, head);
    } while (request.news.newestOf(sessionId) > course.seq);
  }

  function judged(about: Subject): Judgement | null {
    const session = store.registry.get(sessionId);
    if (session === undefined) return null;
    return judge({
      session,
      subject: about,
      course,
      wanted: request.wanted,
      open: store.mailbox.open(sessionId),
      message: (id) => store.mailbox.get(id),
      now: clock.moment(),
    });
  }

  /** The number of an ask would make the next wait one about that ask alone. */
  function afterAll(): number {
    const { newestAsk, lastAsksFrom, seq } = course;
    return newestAsk?.seq === seq && lastAsksFrom !== null ? lastAsksFrom - 1 : seq;
  }

  return {
    sessionId,
    found: () => found,
    isTimed: () => isTimed,
    cursor() {
      const all = afterAll();
      if (subject.kind === "cursor" || subject.ask === null) return { sameAsk: all, afterAll: all };
      // That one was answered: what is waited for is a turn that was begun in the pane since.
      const isAnswered = judged({ kind: "ask", ask: subject.ask })?.is !== "pending";
      return { sameAsk: isAnswered ? all : subject.ask.seq, afterAll: all };
    },
    async look() {
      if (found?.isDone === true) return;
      await read();
      const judgement = judged(subject);
      if (judgement === null) return;
      isTimed = judgement.is === "pending" && judgement.again;
      switch (judgement.is) {
        case "happened":
          found = { ...judgement.wake, isDone: true, ok: judgement.ok, why: null, isUnanswered: false };
          return;
        case "barred":
          found = { ...judgement.wake, isDone: false, ok: false, why: null, isUnanswered: false };
          return;
        case "nothing": {
          const { why, isUnanswered } = judgement;
          found = { reason: "nothing-to-wait-for", isDone: false, ok: false, why, isUnanswered, seq: afterAll() };
          return;
        }
        case "pending":
          found = null;
      }
    },
  };
}

/** A cursor that is the number of an ask means that ask. */
async function subjectOf(store: Store, sessionId: string, since: number | undefined): Promise<Subject> {
  if (since === undefined) {
    const newest = await store.log.latest({ sessionId, types: ASK_TYPES, fits: isAsk });
    return { kind: "newest", ask: newest === undefined ? null : askOf(newest) };
  }
  const [event] = await store.log.read({ after: since - 1, limit: 1, sessionIds: [sessionId] });
  const ask = event?.seq === since ? askOf(event) : null;
  return ask === null ? { kind: "cursor" } : { kind: "ask", ask };
}

export interface News {
  /** The number of the newest event about this session since it is followed; 0 for none. */
  newestOf(sessionId: string): number;
  /** Resolves when there is news since the last call, when the time is up, or when the signal fires. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function followSessions(log: EventLog, clock: Clock, sessionIds: ReadonlySet<string>): News {
  const newest = new Map<string, number>();
  let isNew = false;
  let wake: (() => void) | null = null;
  const close = log.follow((events) => {
    for (const { sessionId, seq } of events) {
      if (sessionId === null || !sessionIds.has(sessionId)) continue;
      newest.set(sessionId, seq);
      isNew = true;
    }
    if (isNew) wake?.();
  }, "first");
  const asleep = (timeoutMs: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const awake = (): void => {
        cancel();
        signal.removeEventListener("abort", awake);
        resolve();
      };
      const cancel = clock.after(timeoutMs, awake);
      signal.addEventListener("abort", awake);
      wake = awake;
      if (signal.aborted) awake();
    });
  return {
    newestOf: (sessionId) => newest.get(sessionId) ?? 0,
    async next(timeoutMs, signal) {
      if (!isNew) await asleep(timeoutMs, signal);
      isNew = false;
    },
    close,
  };
}

/** The first event of a session that fits, from the log or from what is committed next; null if none comes in time. */
export async function firstEvent(
  { store, clock, signal }: { readonly store: Store; readonly clock: Clock; readonly signal: AbortSignal },
  query: { readonly sessionId: string; readonly after: number; readonly types: readonly EventType[] },
  fits: (event: LoggedEvent) => boolean,
  timeoutMs: number,
): Promise<LoggedEvent | null> {
  const { log } = store;
  const news = followSessions(log, clock, new Set([query.sessionId]));
  const deadline = clock.monotonic() + timeoutMs;
  try {
    for (let after = query.after; ;) {
      const leftMs = deadline - clock.monotonic();
      const head = log.head();
      const page = await log.read({ after, limit: PAGE, sessionIds: [query.sessionId], types: query.types });
      const found = page.find(fits);
      if (found !== undefined) return found;
      const isMore = page.length === PAGE;
      after = isMore ? (page.at(-1)?.seq ?? after) : Math.max(after, head);
      if (isMore) continue;
      if (leftMs <= 0 || signal.aborted) return null;
      await news.next(leftMs, signal);
    }
  } finally {
    news.close();
  }
}
