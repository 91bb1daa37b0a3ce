/** One session somebody waits for: reads the log as it grows, and says what has become of it. */
import { askOf, isAsk } from "../session/ask.ts";
import { emptyCourse, follow } from "../session/course.ts";
import type { Judgement, Subject } from "../session/judge-wait.ts";
import { judge } from "../session/judge-wait.ts";
import type { WakeReason } from "../session/wake.ts";
import type { Store } from "../store/contract.ts";
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
  /** Reads what is new. */
  look(): void;
  found(): Found | null;
  /** Time may decide, without an event. */
  isTimed(): boolean;
  /** Where to go on when nothing was found. */
  cursor(): { readonly sameAsk: number; readonly afterAll: number };
}

/** Read in pages, so that a cursor from long ago costs time but not memory. */
const PAGE = 1_000;

export function createWatch(
  { store, clock }: OperationContext,
  sessionId: string,
  request: { readonly since: number | undefined; readonly wanted: ReadonlySet<WakeReason> },
): Watch {
  const subject = subjectOf(store, sessionId, request.since);
  const from = subject.kind === "cursor" ? (request.since ?? 0) : (subject.ask?.seq ?? 0);
  const course = emptyCourse(from);
  let found: Found | null = null;
  let isTimed = false;

  function read(): void {
    for (let after = course.seq; ;) {
      const events = store.log.read({ after, limit: PAGE, sessionIds: [sessionId] });
      for (const event of events) follow(course, event);
      after = events.at(-1)?.seq ?? after;
      if (events.length < PAGE) break;
    }
    course.seq = Math.max(course.seq, store.log.head());
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
    look() {
      if (found?.isDone === true) return;
      read();
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
function subjectOf(store: Store, sessionId: string, since: number | undefined): Subject {
  if (since === undefined) {
    const newest = store.log.latest(sessionId, isAsk);
    return { kind: "newest", ask: newest === undefined ? null : askOf(newest) };
  }
  const [event] = store.log.read({ after: since - 1, limit: 1, sessionIds: [sessionId] });
  const ask = event?.seq === since ? askOf(event) : null;
  return ask === null ? { kind: "cursor" } : { kind: "ask", ask };
}
