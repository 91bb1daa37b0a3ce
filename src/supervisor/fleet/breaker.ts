/**
 * The quota breaker: parks the sessions that draw on a limit while it is
 * reached, and lets them go again, one first. What was rejected stands in the
 * record of the session that met it until it is taken up here, in one commit
 * with the limit's own record, so that a daemon that was killed loses nothing.
 * All changes of these records are made one after another.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import { type Parked, parkedSentence, parkedText } from "../../fleet/parked.ts";
import { accountOf, type ClosedQuota, heldBy, isClosed, type Quota, quotaKind } from "../../fleet/quota.ts";
import { rejectionEvents, warnedEvents } from "../../fleet/quota-event.ts";
import { advanced, type Draw, drawOf, released } from "../../fleet/quota-gate.ts";
import type { QuotaSettings } from "../../fleet/quota-settings.ts";
import { afterRejection, afterUsage, type Moment } from "../../fleet/quota-report.ts";
import { amend } from "../../session/amend.ts";
import { isOld } from "../../session/apply-limit.ts";
import type { QuotaEvent } from "../../session/home-event.ts";
import type { Reading } from "../../session/reading.ts";
import { isEnded, type Session } from "../../session/session.ts";
import { putSession } from "../../store/change.ts";
import type { Commit, Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { createGateTimes } from "./gate-times.ts";
import { createTurnResumer } from "./turn-resumer.ts";

export interface Breaker {
  /** What is recorded, before anything is started. */
  load(): Promise<void>;
  /** From now on limits are watched, first those that the last daemon left. */
  start(): void;
  /** Its record changed. */
  attend(sessionId: string): void;
  /** What an agent says of limits that are not reached. */
  hear(sessionId: string, reading: Reading): void;
  /** It is to be woken as soon as it may go. */
  want(sessionId: string): void;
  /** Whether it must not begin anything now. */
  isHeld(session: Drawing): boolean;
  /** Why, in half a sentence; null where it may. */
  whyHeld(session: Session): string | null;
  /** The same for people. */
  parked(session: Session): Parked | null;
  quotas(): readonly Quota[];
  /** Sessions that have not ended, by the account they draw on. */
  sessionsOn(account: string): readonly Session[];
  idle(): Promise<void>;
}

/** What of a session says on which limits it draws. */
export interface Drawing {
  readonly id: string;
  readonly identity: Pick<Session["identity"], "agent" | "hasTurns" | "launch">;
  readonly quota: { readonly account: string | null; readonly rejections?: readonly unknown[] };
}

export function createBreaker(parts: {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "commitFor">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly settings: QuotaSettings;
  /** It may go now: look at what it needs. */
  readonly poke: (sessionId: string) => void;
}): Breaker {
  const { store, ledger, clock, scheduler, settings } = parts;
  const queue = createKeyedQueue();
  const times = createGateTimes(clock, settings.staggerMs);
  const isResuming = settings.isEnabled && settings.resumes;
  const resumer = createTurnResumer({ ...parts, isEnabled: isResuming, isHeld: (session) => isHeld(session) });
  const book = new Map<string, Quota>();
  /** Sessions that are to be woken. */
  const wanted = new Set<string>();
  /** Sessions whose report is being taken up: the limits' records do not say yet what follows. */
  /** Accounts whose gates are about to be looked at. */
  const awaited = new Set<string>();
  const takingUp = new Set<string>();
  let isStarted = false;

  const ofAccount = (account: string): readonly Quota[] => [...book.values()].filter((one) => one.account === account);
  const hasClosed = (account: string): boolean => ofAccount(account).some(isClosed);
  const moment = (): Moment => ({ now: clock.now(), random: Math.random(), firstWaitMs: settings.firstWaitMs });

  function sessionsOn(account: string): readonly Session[] {
    return store.registry.living().filter((session) => accountOf(session) === account);
  }

  function draw(session: Session): Draw | null {
    const open = store.mailbox.open(session.id);
    const isWoken = wanted.has(session.id);
    return drawOf(session, { open, now: clock.moment(), resumes: settings.resumes, isWoken });
  }

  const drawsOn = (account: string): readonly Draw[] => sessionsOn(account).flatMap((session) => draw(session) ?? []);

  /** In a queue of their own, so that each builds on the one before. */
  function change(what: string, work: () => Promise<void>): void {
    queue
      .run("quota", work)
      .catch(async (error: unknown) => {
        parts.log(`${what} failed, trying again`, { why: error });
        scheduler.after(null, "quota", TRY_AGAIN_MS, tick);
        // Whether it was written or not, what is stored counts.
        await queue.run("quota", load);
      })
      .catch((error: unknown) => parts.log("reading the limits failed", { why: error }));
  }

  async function load(): Promise<void> {
    if (!settings.isEnabled) return;
    for (const quota of await store.records(quotaKind).list()) {
      book.set(quota.id, quota);
      times.attend(quota);
    }
  }

  /** The records as they are committed now. */
  function noted(changed: readonly Quota[]): void {
    for (const quota of changed) {
      book.set(quota.id, quota);
      times.attend(quota);
    }
    for (const account of new Set(changed.map((quota) => quota.account)))
      for (const session of sessionsOn(account)) if (!isHeld(session)) letGo(session.id);
    arm();
  }

  function letGo(sessionId: string): void {
    // Whoever wanted it woken looks again.
    wanted.delete(sessionId);
    parts.poke(sessionId);
    resumer.attend(sessionId);
  }

  async function commit(changed: readonly Quota[], events: readonly QuotaEvent[]): Promise<void> {
    if (changed.length === 0) return;
    failpoint("quota.before-commit");
    await store.commit({ changes: changed.map(quotaKind.put), events: events.map(logged) });
    failpoint("quota.after-commit");
    noted(changed);
  }

  /** Takes up what was rejected: out of the session's record and into the limits', at once. */
  async function takeUp(sessionId: string): Promise<void> {
    takingUp.add(sessionId);
    try {
      noted(await takenUp(sessionId));
    } finally {
      takingUp.delete(sessionId);
      letGo(sessionId);
    }
  }

  async function takenUp(sessionId: string): Promise<readonly Quota[]> {
    let changed: readonly Quota[] = [];
    failpoint("park.before-commit");
    await ledger.commitFor(sessionId, (session): Commit | null => {
      const account = accountOf(session);
      if (session.quota.rejections.length === 0) return null;
      const next = account === null ? [] : rejected(session, account);
      changed = next;
      const taken = amend({ ...session, revision: session.revision + 1 }, { quota: { rejections: [] } });
      return {
        changes: [putSession(taken), ...next.map(quotaKind.put)],
        events: rejectionEvents(next, account === null ? 0 : sessionsOn(account).length).map(logged),
      };
    });
    failpoint("park.after-commit");
    return changed;
  }

  function rejected(session: Session, account: string): readonly Quota[] {
    const before = new Map(ofAccount(account).map((quota) => [quota.id, quota]));
    const now = new Map(before);
    for (const rejection of session.quota.rejections)
      for (const quota of afterRejection([...now.values()], rejection, { account, sessionId: session.id }, moment()))
        now.set(quota.id, quota);
    const changed = [...now.values()].filter((quota) => before.get(quota.id) !== quota);
    // Several reports in one commit are one revision.
    return changed.map((quota) => ({ ...quota, revision: (before.get(quota.id)?.revision ?? 0) + 1 }));
  }

  async function review(account: string): Promise<void> {
    const { changed, opened } = advanced(ofAccount(account), drawsOn(account), times);
    const events = opened.map((quota): QuotaEvent => {
      const sessions = drawsOn(account).filter(({ hasWork }) => hasWork).length;
      return { type: "quota-opened", account, limit: quota.limit, sessions };
    });
    await commit(changed, events);
    const due = ofAccount(account).filter(isClosed).filter(times.isReleaseDue);
    await commit(
      due.map((quota) => released(quota, drawsOn(account))),
      [],
    );
    // A timer may be a moment early by the other clock.
    arm();
  }

  async function usage(sessionId: string, reading: Reading): Promise<void> {
    const session = store.registry.get(sessionId);
    const account = session === undefined ? null : accountOf(session);
    if (session === undefined || account === null) return;
    for (const limit of reading.limits ?? []) {
      if (limit.status === "rejected" || isOld(session, limit)) continue;
      const reporter = { account, sessionId, source: reading.source };
      const next = afterUsage(ofAccount(account), limit, reporter, clock.now());
      const before = next === null ? undefined : book.get(next.id);
      if (next !== null) await commit([next], warnedEvents(next, before));
    }
    if (hasClosed(account)) await review(account);
  }

  /** Once for all that asked for it meanwhile: each looks at every session of the account. */
  function reviewSoon(account: string): void {
    if (awaited.has(account)) return;
    awaited.add(account);
    change("looking at a limit", async () => {
      awaited.delete(account);
      await review(account);
    });
  }

  function tick(): void {
    for (const account of new Set([...book.values()].filter(isClosed).map((quota) => quota.account)))
      reviewSoon(account);
    for (const session of store.registry.living()) if (session.quota.rejections.length > 0) attend(session.id);
  }

  function arm(): void {
    if (!isStarted) return;
    const waits = [...book.values()].filter(isClosed).map(times.nextLookMs);
    if (waits.length === 0) scheduler.cancel(null, "quota");
    else scheduler.after(null, "quota", Math.min(...waits), tick);
  }

  function attend(sessionId: string): void {
    const session = isStarted ? store.registry.get(sessionId) : undefined;
    const account = session === undefined ? null : accountOf(session);
    if (session === undefined || account === null) return;
    if (session.quota.rejections.length > 0) change("parking sessions", () => takeUp(sessionId));
    if (hasClosed(account)) reviewSoon(account);
    resumer.attend(sessionId);
  }

  function holderOf(session: Drawing): ClosedQuota | null {
    return settings.isEnabled ? heldBy(book.values(), accountOf(session), session.id) : null;
  }

  function isHeld(session: Drawing): boolean {
    if (!settings.isEnabled) return false;
    const hasReport = (session.quota.rejections?.length ?? 0) > 0;
    return hasReport || takingUp.has(session.id) || holderOf(session) !== null;
  }

  return {
    load,
    start() {
      isStarted = settings.isEnabled;
      if (!isStarted) return;
      for (const { id } of store.registry.all()) attend(id);
      arm();
    },
    attend,
    hear(sessionId, reading) {
      if (!isStarted || reading.limits === undefined || reading.isHistory === true) return;
      const session = store.registry.get(sessionId);
      if (session !== undefined) times.hear(session, reading.limits, ofAccount(accountOf(session) ?? ""));
      change("noting how much of a limit is used", () => usage(sessionId, reading));
    },
    want(sessionId) {
      if (wanted.has(sessionId)) return;
      wanted.add(sessionId);
      attend(sessionId);
    },
    isHeld,
    whyHeld(session) {
      const quota = holderOf(session);
      if (quota !== null) return parkedText(quota, clock.now());
      return isHeld(session) ? "a limit of its vendor was reached just now" : null;
    },
    parked(session) {
      const quota = isEnded(session) ? null : holderOf(session);
      // Nobody is in its way: the first that has something to do goes.
      if (quota === null || (quota.gate.phase === "probing" && quota.gate.canary === null)) return null;
      return {
        quota,
        hasWork: draw(session)?.hasWork === true,
        text: parkedText(quota, clock.now()),
        sentence: parkedSentence(quota, clock.now()),
      };
    },
    quotas: () => [...book.values()],
    sessionsOn,
    idle: () => queue.idle(),
  };
}

/** What could not be written is tried again after a while. */
const TRY_AGAIN_MS = 5_000;

function logged(body: QuotaEvent): { readonly sessionId: null; readonly body: QuotaEvent } {
  return { sessionId: null, body };
}
