/** For tests only: a session that started others, over a real store, with a clock that the test turns. */
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { newMail } from "../../fleet/mail-fixture.ts";
import { OPERATOR } from "../../session/caller.ts";
import type { EventBody } from "../../session/event.ts";
import type { Message, MessageState } from "../../session/message.ts";
import type { Session } from "../../session/session.ts";
import { WAKE_REASONS } from "../../session/wake.ts";
import { putSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeSession, nextRevision } from "../../store/store-fixture.ts";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { createReceipts } from "../ledger/receipts.ts";
import { createPost, type Post } from "../ledger/post.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import { createWaker, type Waker } from "./waker.ts";

const evidence = { source: "hook", detail: "a hook", at: 1 } as const;
const reason = { code: "killed", text: "It was killed.", evidence };

export const turnCompleted = { type: "turn-completed", turn: 1, evidence } as const satisfies EventBody;
export const exited = {
  type: "session-exited",
  incarnation: 1,
  exit: { code: null, signal: "SIGKILL", at: 1 },
  reason,
} as const satisfies EventBody;

export interface WakerGround {
  readonly clock: TestClock;
  readonly store: Store;
  ledger(): Ledger;
  waker(): Waker;
  boss(): Session;
  /** Commits these events of a worker; answers the number of the last. */
  happen(worker: string, ...bodies: readonly EventBody[]): Promise<number>;
  /** The wake that waits or is being typed. */
  open(): Message | undefined;
  /** What delivery would do with it. */
  settle(outcome: MessageState): Promise<void>;
  setBusy(isBusy: boolean): Promise<void>;
  /** Somebody writes to it. */
  mail(id: string, kind: "note" | "hand-off"): Promise<void>;
  readMail(id: string): Promise<void>;
  /** Its process ended and was started again. */
  rebirth(): Promise<void>;
  /** The daemon is killed, and another one takes over: only the store is left. */
  restart(): Promise<void>;
  /** Until nothing more happens by itself. */
  settled(): Promise<void>;
  sent(): Promise<readonly { readonly since: number; readonly through: number; readonly count: number }[]>;
  dispose(): Promise<void>;
}

export async function makeWakerGround(
  workers: readonly string[],
  isEnabled = true,
  breaker: Parameters<typeof createWaker>[0]["breaker"] = { isHeld: () => false, want: () => undefined },
  isRecoveryTold = true,
): Promise<WakerGround> {
  const clock = makeTestClock();
  const home = makeHome();
  const store = await home.open({ clock });
  const running = {
    state: "running",
    process: { incarnation: 1, liveness: { status: "running", evidence } },
    conversation: { activity: { status: "idle", asks: null, evidence }, turns: 1 },
  } as const;
  const boss = makeSession(home, "boss", { ...running, identity: { name: "boss", hasTurns: true } });
  const children = workers.map((id) =>
    makeSession(home, id, { ...running, identity: { name: id, parentId: "boss", notify: WAKE_REASONS } }),
  );
  await store.commit({ changes: [boss, ...children].map(putSession) });

  let daemon = await begin();
  async function begin(): Promise<{
    readonly ledger: Ledger;
    readonly waker: Waker;
    readonly scheduler: Scheduler;
    readonly post: Post;
  }> {
    const log = home.log;
    const scheduler = createScheduler({ clock, log, observe: async () => undefined });
    const ledger = createLedger({ store, clock, log, receipts: createReceipts() });
    const post = createPost({ store, clock, log });
    await post.load();
    const tellsRecovery = (): boolean => isRecoveryTold;
    const waker = createWaker({ store, ledger, clock, scheduler, log, mail: post, isEnabled, tellsRecovery, breaker });
    ledger.onCommit((id) => waker.poke(id));
    waker.start();
    return { ledger, waker, scheduler, post };
  }

  const ground: WakerGround = {
    clock,
    store,
    ledger: () => daemon.ledger,
    waker: () => daemon.waker,
    boss: () => {
      const session = store.registry.get("boss");
      if (session === undefined) throw new Error("there is no boss");
      return session;
    },
    async happen(worker, ...bodies) {
      const logged = await store.commit({ events: bodies.map((body) => ({ sessionId: worker, body })) });
      return logged.at(-1)?.seq ?? 0;
    },
    open: () => store.mailbox.open("boss")[0],
    async settle(outcome) {
      const message = ground.open();
      if (message === undefined) throw new Error("no wake is open");
      if (message.state === "admitted") await daemon.ledger.settle(message, "leased", null, null);
      if (outcome !== "leased") await daemon.ledger.settle(message, outcome, null, outcome);
    },
    async setBusy(isBusy) {
      const { turns, turnOpen } = ground.boss().conversation;
      if (turnOpen === isBusy) return;
      const turn = { phase: isBusy ? "started" : "completed", id: `t${isBusy ? turns + 1 : turns}` } as const;
      const activity = isBusy ? ("working" as const) : ("idle" as const);
      const reading = { source: "hook", detail: "a hook", turn, activity } as const;
      const { incarnation } = ground.boss().process;
      await daemon.ledger.apply("boss", { type: "read", incarnation, reading });
    },
    mail: (id, kind) => daemon.post.send([newMail(id, { to: "boss", kind })], { caller: OPERATOR }),
    async readMail(id) {
      await daemon.post.change(id, "read", { kind: "session", id: "boss" });
    },
    rebirth: () =>
      daemon.ledger.commitFor("boss", (session) => {
        const incarnation = session.process.incarnation + 1;
        return { changes: [putSession(nextRevision(session, { process: { incarnation } }))] };
      }),
    async restart() {
      daemon.waker.close();
      daemon.scheduler.close();
      daemon = await begin();
    },
    async settled() {
      for (let round = 0; round < 5; round++) {
        await clock.advance(1_000);
        await daemon.ledger.idle();
      }
    },
    async sent() {
      const events = await store.log.read({ after: 0, limit: 10_000, sessionIds: ["boss"], types: ["wake-sent"] });
      return events.flatMap(({ body }) =>
        body.type === "wake-sent" ? [{ since: body.since, through: body.through, count: body.count }] : [],
      );
    },
    async dispose() {
      daemon.scheduler.close();
      await daemon.ledger.idle();
      await home.remove();
    },
  };
  return ground;
}
