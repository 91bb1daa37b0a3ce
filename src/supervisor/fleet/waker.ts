/**
 * Wakes sessions for what happened to the sessions that they started. What is
 * due is read from the log each time, beyond the cursor in the receiver's
 * record, so a daemon that was killed loses nothing. A wake is a message like
 * any other: it is admitted here, in one commit with the record that names it,
 * and typed by effect/delivery.ts.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newMessageId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import {
  type DueEvent,
  dueFor,
  dueMail,
  dueRecovery,
  gatheringLeft,
  type Heard,
  readinessOf,
  stillDue,
  youngEnough,
  youngEnoughMail,
} from "../../fleet/due-wake.ts";
import { wakeLine } from "../../fleet/wake-line.ts";
import { isTold, type Told, withTold, withWake } from "../../session/wake-record.ts";
import { WAKE_EVENTS } from "../../session/wake.ts";
import type { CutShort } from "../../session/cut-short.ts";
import type { LoggedEvent } from "../../session/event.ts";
import type { Session } from "../../session/session.ts";
import { admitMessage, putSession, settleMessage } from "../../store/change.ts";
import type { Commit, Store } from "../../store/contract.ts";
import type { UnreadMail } from "../../fleet/unread-mail.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Post } from "../ledger/post.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { Breaker } from "./breaker.ts";
import { ownMessage } from "./own-message.ts";

export interface Waker {
  /** From now on sessions are woken, first for what the last daemon left. */
  start(): void;
  /** Its record changed: it may be idle now. */
  poke(sessionId: string): void;
  /** The session learnt this from an answer that it got. A wake that only waits to be typed is taken back. */
  tell(sessionId: string, news: readonly Told[]): Promise<void>;
  /** What this session is to be woken for and has not been told, oldest first. */
  due(session: Session): Promise<Due>;
  /** It was removed. */
  forget(sessionId: string): void;
  close(): void;
}

export interface Due {
  readonly events: readonly DueEvent[];
  readonly mails: readonly UnreadMail[];
}

const PAGE = 1_000;
/** Between two looks at what only time decides. */
const LOOK_AGAIN_MS = 500;
/** A wake that could not be given is not tried at once again: the screen that was in its way stays for a while. */
const TRY_AGAIN_MS = 30_000;

export function createWaker(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly mail: Pick<Post, "unread" | "unreadMails">;
  readonly isEnabled: boolean;
  /** Whether this session is told that it was restarted in the middle of a turn. */
  readonly tellsRecovery: (session: Session) => boolean;
  /** Who is parked is woken when it may go again. */
  readonly breaker: Pick<Breaker, "isHeld" | "want">;
}): Waker {
  const { store, ledger, clock, scheduler, log } = parts;
  /** For which something may be due; whoever is not in here is not looked at. */
  const concerned = new Set<string>();
  const heard = new Map<string, Heard>();
  /** The last wake of this daemon for each, and those that are being decided. */
  const last = new Map<string, { readonly messageId: string; readonly incarnation: number }>();
  const heldUntil = new Map<string, number>();
  const deciding = new Set<string>();
  let isStarted = false;

  const unfollow = store.log.follow((events) => {
    if (!parts.isEnabled) return;
    for (const event of events) {
      if (event.body.type === "mail-sent") hear(event.body.to);
      const child = event.sessionId === null ? undefined : store.registry.get(event.sessionId);
      const parentId = child?.identity.parentId ?? null;
      if (child === undefined || parentId === null || dueFor(child, event) === null) continue;
      hear(parentId);
    }
  });

  function hear(sessionId: string): void {
    if (store.registry.get(sessionId) === undefined) return;
    const now = clock.monotonic();
    heard.set(sessionId, { firstAt: heard.get(sessionId)?.firstAt ?? now, lastAt: now });
    concerned.add(sessionId);
    poke(sessionId);
  }

  /** It was restarted in the middle of a turn, and nobody has told it so. */
  function recoveryOf(session: Session): CutShort | null {
    return parts.tellsRecovery(session) ? dueRecovery(session) : null;
  }

  /** It was restarted, and what it was told of a hand-off is gone with the process that heard it. */
  function isReborn(session: Session): boolean {
    if (session.process.incarnation <= session.wakes.wokenIncarnation) return false;
    if (recoveryOf(session) !== null) return true;
    const { handOffs } = parts.mail.unread(session.id);
    return handOffs > 0 && dueMail(session, parts.mail.unreadMails(session.id)).length > 0;
  }

  function pokeLater(sessionId: string, ms: number): void {
    scheduler.after(sessionId, "wake", ms, () => poke(sessionId));
  }

  function poke(sessionId: string): void {
    if (!isStarted || deciding.has(sessionId)) return;
    const session = store.registry.get(sessionId);
    if (session === undefined || !(concerned.has(sessionId) || isReborn(session))) return;
    const readiness = readinessOf(session, { open: store.mailbox.open(sessionId), now: clock.moment() });
    if (!readiness.isReady) {
      if (readiness.again) pokeLater(sessionId, LOOK_AGAIN_MS);
      if (!readiness.isFree && isWaiting(session)) void takeBack(sessionId).catch(report(sessionId));
      return;
    }
    if (parts.breaker.isHeld(session)) return parts.breaker.want(sessionId);
    noticeFailure(session);
    const monotonic = clock.monotonic();
    const held = Math.max(
      gatheringLeft(heard.get(sessionId), monotonic) ?? 0,
      (heldUntil.get(sessionId) ?? 0) - monotonic,
    );
    if (held > 0) return pokeLater(sessionId, held);
    deciding.add(sessionId);
    const again = (): void => {
      deciding.delete(sessionId);
      poke(sessionId);
    };
    wake(session).then(again, (error: unknown) => {
      report(sessionId)(error);
      deciding.delete(sessionId);
      concerned.add(sessionId);
      pokeLater(sessionId, TRY_AGAIN_MS);
    });
  }

  function report(sessionId: string): (error: unknown) => void {
    return (error) => log("waking a session failed, trying again", { session: sessionId, why: error });
  }

  function noticeFailure({ id, process: { incarnation } }: Session): void {
    const wake = last.get(id);
    if (wake === undefined) return;
    last.delete(id);
    const state = store.mailbox.get(wake.messageId)?.state;
    const hasFailed = wake.incarnation === incarnation && (state === "refused" || state === "unknown");
    if (hasFailed) heldUntil.set(id, clock.monotonic() + TRY_AGAIN_MS);
  }

  /** Its wake is admitted, and nobody has begun to type it. */
  function isWaiting({ wakes: { open } }: Session): boolean {
    return open !== null && store.mailbox.get(open.messageId)?.state === "admitted";
  }

  /** Something else came first: what it says then goes into one wake with what comes meanwhile. */
  function takeBack(sessionId: string): Promise<void> {
    return ledger.commitFor(sessionId, (session) => {
      const { isFree } = readinessOf(session, { open: store.mailbox.open(sessionId), now: clock.moment() });
      return isFree || !isWaiting(session)
        ? null
        : withdrawal(session, session.wakes, "The session was busy again before it was typed.");
    });
  }

  async function wake(receiver: Session): Promise<void> {
    heard.delete(receiver.id);
    concerned.delete(receiver.id);
    const found = await due(receiver);
    if (isNothing(young(found)) && recoveryOf(receiver) === null) return;
    failpoint("wake.before-commit");
    await ledger.commitFor(receiver.id, (session) => {
      concerned.add(session.id);
      const { isReady } = readinessOf(session, { open: store.mailbox.open(session.id), now: clock.moment() });
      const events = stillDue(session, found.events);
      const mails = dueMail(session, parts.mail.unreadMails(session.id)).filter(({ seq }) => seq <= found.newestMail);
      const news = young({ events, mails });
      return isReady && !(isNothing(news) && recoveryOf(session) === null) ? admission(session, news) : null;
    });
    failpoint("wake.after-commit");
  }

  /** Both the count of a wake and its cursor come from what this leaves. */
  function young({ events, mails }: Due): Due {
    const now = clock.now();
    return { events: youngEnough(events, now), mails: youngEnoughMail(mails, now) };
  }

  function admission(session: Session, { events, mails }: Due): Commit {
    const cut = recoveryOf(session);
    const recovers = cut === null ? 0 : session.process.incarnation;
    const { acknowledged: since } = session.wakes;
    const mailThrough = mails.at(-1)?.seq ?? 0;
    // Older than the events that were read: none of them is between.
    const through = Math.max(since, events.at(-1)?.seq ?? 0, mailThrough);
    const id = newMessageId();
    last.set(session.id, { messageId: id, incarnation: session.process.incarnation });
    const text = wakeLine({ since, through, events, mails, cutTurn: cut?.turn });
    const { turns } = session.conversation;
    const count = events.length + mails.length;
    const open = { messageId: id, since, through, count, mailThrough, turns, recovers };
    const message = ownMessage({ id, sessionId: session.id, text, admittedAt: clock.now() });
    const body = { type: "message-admitted", messageId: id, bytes: Buffer.byteLength(text), isWake: true } as const;
    return {
      changes: [putSession(withWake(session, open)), admitMessage(message)],
      events: [{ sessionId: session.id, caller: "system", body }],
    };
  }

  /** Also of those that have ended: how they did is news. */
  function childrenOf(sessionId: string): ReadonlyMap<string, Session> {
    const children = store.registry.childrenOf(sessionId).filter(({ identity }) => identity.notify.length > 0);
    return new Map(children.map((child) => [child.id, child]));
  }

  /** The mail first: whatever happens until the log is read, no event before the newest mail is left out. */
  async function due(session: Session): Promise<Due & { readonly newestMail: number }> {
    const mails = dueMail(session, parts.mail.unreadMails(session.id));
    return { mails, newestMail: mails.at(-1)?.seq ?? 0, events: await dueEvents(session) };
  }

  async function dueEvents(session: Session): Promise<readonly DueEvent[]> {
    const children = childrenOf(session.id);
    if (children.size === 0) return [];
    const found: DueEvent[] = [];
    for (let after = session.wakes.acknowledged; ;) {
      const page = await store.log.read({ after, limit: PAGE, sessionIds: [...children.keys()], types: WAKE_EVENTS });
      found.push(...page.flatMap((event) => dueIn(children, event)));
      after = page.at(-1)?.seq ?? after;
      if (page.length < PAGE) return stillDue(session, found);
    }
  }

  /** A wake of theirs that is not being typed yet goes in the same commit: it would tell what they know. */
  function telling(session: Session, news: readonly Told[], found: readonly DueEvent[], head: number): Commit | null {
    const wakes = withTold(session.wakes, news, { due: found, head });
    if (!news.some((one) => isNews(session, one))) return null;
    if (isWaiting(session)) return withdrawal(session, wakes, "The session learnt of it before it was typed.");
    return { changes: [putSession({ ...session, revision: session.revision + 1, wakes })] };
  }

  /** The open wake is not typed; what is left of it is told by the next one. */
  function withdrawal(session: Session, wakes: Session["wakes"], text: string): Commit {
    const messageId = session.wakes.open?.messageId ?? "";
    const at = clock.now();
    const reason = { code: "wake-withdrawn", text, evidence: { source: "supervisor", detail: text, at } } as const;
    const next = { ...session, revision: session.revision + 1, wakes: { ...wakes, open: null } };
    last.delete(session.id);
    concerned.add(session.id);
    return {
      changes: [putSession(next), settleMessage({ messageId, state: "refused", detail: text, moment: clock.moment() })],
      events: [{ sessionId: session.id, caller: "system", body: { type: "message-refused", messageId, reason } }],
    };
  }

  return {
    due,
    poke,
    forget(sessionId) {
      concerned.delete(sessionId);
      for (const known of [heard, last, heldUntil]) known.delete(sessionId);
    },
    close() {
      isStarted = false;
      unfollow();
    },
    start() {
      isStarted = parts.isEnabled;
      if (!isStarted) return;
      for (const { id, identity } of store.registry.all()) {
        if (identity.parentId !== null && identity.notify.length > 0) concerned.add(identity.parentId);
        if (parts.mail.unread(id).unread > 0) concerned.add(id);
      }
      for (const session of store.registry.living()) if (recoveryOf(session) !== null) concerned.add(session.id);
      for (const sessionId of concerned) poke(sessionId);
    },
    async tell(sessionId, news) {
      const session = store.registry.get(sessionId);
      const children = childrenOf(sessionId);
      const known = news.filter((one) => one.sessionId === null || children.has(one.sessionId));
      if (session === undefined || known.length === 0 || children.size === 0) return;
      const head = store.log.head();
      const found = await dueEvents(session);
      await ledger.commitFor(sessionId, (now) => telling(now, known, found, head));
    },
  };
}

function isNothing({ events, mails }: Due): boolean {
  return events.length === 0 && mails.length === 0;
}

function isNews({ wakes }: Session, { sessionId, through }: Told): boolean {
  return sessionId === null ? through > wakes.acknowledged : !isTold(wakes, sessionId, through);
}

function dueIn(children: ReadonlyMap<string, Session>, event: LoggedEvent): readonly DueEvent[] {
  const child = event.sessionId === null ? undefined : children.get(event.sessionId);
  const one = child === undefined ? null : dueFor(child, event);
  return one === null ? [] : [one];
}
