/** The sessions somebody waits for: reads the log as it grows, and says what has become of each. */
import { ASK_TYPES, askOf, isAsk } from "../session/ask.ts";
import { emptyCourse, follow } from "../session/course.ts";
import type { Judgement, Subject } from "../session/judge-wait.ts";
import { judge } from "../session/judge-wait.ts";
import type { WakeReason } from "../session/wake.ts";
import type { Store } from "../store/contract.ts";
import { followSessions, type News } from "../supervisor/ledger/news.ts";
import type { OperationContext } from "./contract.ts";

export interface Found {
  readonly reason: WakeReason | "nothing-to-wait-for";
  readonly isDone: boolean;
  readonly ok: boolean;
  readonly why: string | null;
  readonly seq: number;
}

export interface Watch {
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
export async function watchSessions(
  context: Pick<OperationContext, "store" | "clock" | "signal">,
  sessionIds: ReadonlySet<string>,
  request: {
    readonly since: number | undefined;
    readonly wanted: ReadonlySet<WakeReason>;
    readonly timeoutMs: number;
    readonly isEnough: (watches: readonly Watch[]) => boolean;
  },
): Promise<readonly Watch[]> {
  const { store, clock, signal } = context;
  const deadline = clock.monotonic() + request.timeoutMs;
  // Before anything is read: what is committed meanwhile is looked at again.
  const news = followSessions(store.log, clock, sessionIds);
  try {
    const watches = await Promise.all([...sessionIds].map((id) => createWatch(context, id, { ...request, news })));
    for (;;) {
      const leftMs = deadline - clock.monotonic();
      await Promise.all(watches.map((watch) => watch.look()));
      if (request.isEnough(watches) || leftMs <= 0 || signal.aborted) return watches;
      const isTimed = watches.some((watch) => watch.isTimed());
      await news.next(isTimed ? Math.min(leftMs, LOOK_AGAIN_MS) : leftMs, signal);
    }
  } finally {
    news.close();
  }
}

async function createWatch(
  { store, clock }: Pick<OperationContext, "store" | "clock">,
  sessionId: string,
  request: {
    readonly since: number | undefined;
    readonly wanted: ReadonlySet<WakeReason>;
    readonly news: Pick<News, "newestOf">;
  },
): Promise<Watch> {
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
      now: clock.now(),
    });
  }

  return {
    sessionId,
    found: () => found,
    isTimed: () => isTimed,
    cursor() {
      // The number of an ask would make the next wait one about that ask alone.
      const afterAll = course.newestAsk?.seq === course.seq ? course.seq - 1 : course.seq;
      if (subject.kind === "cursor" || subject.ask === null) return { sameAsk: afterAll, afterAll };
      // That one was answered: what is waited for is a turn that was begun in the pane since.
      const isAnswered = judged({ kind: "ask", ask: subject.ask })?.is !== "pending";
      return { sameAsk: isAnswered ? afterAll : subject.ask.seq, afterAll };
    },
    async look() {
      if (found?.isDone === true) return;
      await read();
      const judgement = judged(subject);
      if (judgement === null) return;
      isTimed = judgement.is === "pending" && judgement.again;
      switch (judgement.is) {
        case "happened":
          found = { ...judgement.wake, isDone: true, ok: judgement.ok, why: null };
          return;
        case "barred":
          found = { ...judgement.wake, isDone: false, ok: false, why: null };
          return;
        case "nothing":
          found = { reason: "nothing-to-wait-for", isDone: false, ok: false, why: judgement.why, seq: course.seq };
          return;
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
