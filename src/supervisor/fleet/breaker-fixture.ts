/** For tests only: sessions that draw on accounts, over a real store, with a clock that the test turns. */
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { isClosed, type Quota } from "../../fleet/quota.ts";
import { defaultQuotaSettings, type QuotaSettings } from "../../fleet/quota-settings.ts";
import type { LimitReading } from "../../session/limit.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import { admitMessage, putSession } from "../../store/change.ts";
import type { LoggedEvent } from "../../session/event.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeMessage, makeSession } from "../../store/store-fixture.ts";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { createReceipts } from "../ledger/receipts.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import { type Breaker, createBreaker } from "./breaker.ts";

export interface BreakerGround {
  readonly clock: TestClock;
  readonly store: Store;
  breaker(): Breaker;
  ledger(): Ledger;
  session(id: string): Session;
  /** The only limit of this account that is known. */
  quota(account?: string): Quota;
  isHeld(id: string): boolean;
  /** A turn begins. */
  begin(id: string): Promise<void>;
  end(id: string, how?: "completed" | "interrupted"): Promise<void>;
  /** Its turn fails because of a limit; one that nobody names where there is none. */
  reject(id: string, limit?: Partial<LimitReading>, source?: Reading["source"]): Promise<void>;
  read(id: string, reading: Partial<Reading>): Promise<void>;
  message(id: string, messageId: string): Promise<void>;
  /** Messages of Reeve's own that wait for this session. */
  resumes(id: string): readonly string[];
  events(...types: readonly string[]): Promise<readonly LoggedEvent["body"][]>;
  /** The daemon is killed, and another one takes over: only the store is left. */
  restart(): Promise<void>;
  /** Until what was begun is committed. */
  settled(): Promise<void>;
  /** Time goes on, and what follows is committed. */
  pass(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

/** Each with its account. */
export async function makeBreakerGround(
  accounts: Readonly<Record<string, string>>,
  given: Partial<QuotaSettings> = {},
): Promise<BreakerGround> {
  const clock = makeTestClock();
  const home = makeHome();
  const store = await home.open({ clock });
  const evidence = { source: "hook", detail: "a hook", at: clock.now() } as const;
  const settings = { ...defaultQuotaSettings, ...given };
  const sessions = Object.entries(accounts).map(([id, account]) =>
    makeSession(home, id, {
      state: "running",
      identity: { name: id, hasTurns: true, agent: "practice" },
      process: { incarnation: 1, liveness: { status: "running", evidence } },
      conversation: { activity: { status: "idle", asks: null, evidence } },
      quota: { account },
    }),
  );
  await store.commit({ changes: sessions.map(putSession) });

  let daemon = await begin();
  async function begin(): Promise<{
    readonly ledger: Ledger;
    readonly breaker: Breaker;
    readonly scheduler: Scheduler;
  }> {
    const log = home.log;
    const scheduler = createScheduler({ clock, log, observe: async () => undefined });
    const ledger = createLedger({ store, clock, log, receipts: createReceipts() });
    const breaker = createBreaker({ store, ledger, clock, scheduler, log, settings, poke: () => undefined });
    ledger.onCommit((id) => breaker.attend(id));
    await breaker.load();
    breaker.start();
    return { ledger, breaker, scheduler };
  }

  const ground: BreakerGround = {
    clock,
    store,
    breaker: () => daemon.breaker,
    ledger: () => daemon.ledger,
    session(id) {
      const session = store.registry.get(id);
      if (session === undefined) throw new Error(`there is no ${id}`);
      return session;
    },
    quota(account = "practice work") {
      const known = daemon.breaker.quotas().filter((quota) => quota.account === account);
      const quota = known.find(isClosed) ?? known[0];
      if (quota === undefined) throw new Error(`no limit of ${account} is known`);
      return quota;
    },
    isHeld: (id) => daemon.breaker.isHeld(ground.session(id)),
    begin: (id) => ground.read(id, { activity: "working", turn: { phase: "started", id: nextTurn(id) } }),
    end: (id, how = "completed") => ground.read(id, { activity: "idle", turn: { phase: how, id: turnOf(id) } }),
    reject: (id, limit, source = "hook") =>
      ground.read(id, {
        source,
        activity: "idle",
        turn: { phase: "failed", id: turnOf(id), error: "429", failure: "rate-limit" },
        ...(limit === undefined ? {} : { limits: [limitReading(limit)] }),
      }),
    async read(id, reading) {
      const whole = { source: "hook", detail: "a hook", ...reading } as const;
      await daemon.ledger.apply(id, { type: "read", incarnation: 1, reading: whole });
      daemon.breaker.hear(id, whole);
      await ground.settled();
    },
    async message(sessionId, id) {
      await store.commit({ changes: [admitMessage(makeMessage(sessionId, id))] });
      daemon.breaker.attend(sessionId);
      await ground.settled();
    },
    resumes: (id) =>
      store.mailbox
        .open(id)
        .filter(({ caller }) => caller === "system")
        .map(({ text }) => text),
    async events(...types) {
      const events = await store.log.read({ after: 0, limit: 10_000 });
      return events.map(({ body }) => body).filter(({ type }) => types.includes(type));
    },
    async restart() {
      daemon.scheduler.close();
      await ground.settled();
      daemon = await begin();
      await ground.settled();
    },
    async settled() {
      for (let round = 0; round < 3; round++) {
        await daemon.breaker.idle();
        await daemon.ledger.idle();
      }
    },
    async pass(ms) {
      await clock.advance(ms);
      await ground.settled();
      await clock.advance(0);
      await ground.settled();
    },
    async dispose() {
      daemon.scheduler.close();
      await ground.settled();
      await home.remove();
    },
  };

  const turnOf = (id: string): string => `${id}-${ground.session(id).conversation.turns}`;
  const nextTurn = (id: string): string => `${id}-${ground.session(id).conversation.turns + 1}`;
  return ground;
}

export function limitReading(given: Partial<LimitReading>): LimitReading {
  const resetsAt = given.resetsAt ?? null;
  const confidence = resetsAt === null ? "none" : "stated";
  return { limit: "requests", status: "rejected", usedPercent: null, resetsAt, confidence, text: "429", ...given };
}
