/** For tests only: an inbox over a real store, with sessions that a test changes as it likes, and daemons that come and go. */
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { type Approval } from "../../session/approval.ts";
import { type Amendment } from "../../session/amend.ts";
import type { InboxEvent } from "../../session/home-event.ts";
import type { Session } from "../../session/session.ts";
import { putSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeSession, nextRevision } from "../../store/store-fixture.ts";
import type { Due } from "../../fleet/inbox-condition.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import { createInbox, type Inbox } from "./inbox-keeper.ts";

export interface InboxGround {
  readonly clock: TestClock;
  readonly store: Store;
  inbox(): Inbox;
  session(id: string): Session;
  /** The session's record changes, and the inbox hears of it. */
  change(id: string, changes: Amendment): Promise<void>;
  /** What the home needs a person for; null: not known yet. */
  setHome(conditions: readonly Due[] | null): void;
  /** The next so many commits of the inbox are refused, as on a full disk. */
  refuse(commits: number): void;
  /** What the log has of the inbox so far. */
  told(): Promise<readonly InboxEvent[]>;
  /** The daemon is killed, and another one started. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

export async function makeInboxGround(ids: readonly string[]): Promise<InboxGround> {
  const clock = makeTestClock();
  const home = makeHome();
  const store = await home.open({ clock });
  await store.commit({ changes: ids.map((id) => putSession(runningSession(home, id))) });
  let conditions: readonly Due[] | null = [];
  let refusals = 0;
  const commit: Store["commit"] = async (what) => {
    if (refusals-- > 0) throw new Error("the disk is full");
    return await store.commit(what);
  };
  let daemon = await begin();

  async function begin(): Promise<{ readonly inbox: Inbox; readonly scheduler: Scheduler }> {
    const { log } = home;
    const scheduler = createScheduler({ clock, log, observe: async () => undefined });
    const homeSources = [{ conditions: () => conditions }];
    const { log: events, registry, mailbox } = store;
    const refusing = { ...store, log: events, registry, mailbox, records: store.records.bind(store), commit };
    const inbox = createInbox({ store: refusing, clock, scheduler, log, homeSources });
    await inbox.load();
    inbox.start();
    return { inbox, scheduler };
  }

  const ground: InboxGround = {
    clock,
    store,
    inbox: () => daemon.inbox,
    session(id) {
      const session = store.registry.get(id);
      if (session === undefined) throw new Error(`there is no session ${id}`);
      return session;
    },
    async change(id, changes) {
      await store.commit({ changes: [putSession(nextRevision(ground.session(id), changes))] });
      daemon.inbox.poke(id);
    },
    setHome(now) {
      conditions = now;
      daemon.inbox.poke(null);
    },
    refuse: (commits) => void (refusals = commits),
    async told() {
      await daemon.inbox.settled();
      const events = await store.log.read({ after: 0, limit: 100_000 });
      return events.flatMap(({ body }) => (body.type.startsWith("inbox-") ? [body as InboxEvent] : []));
    },
    async restart() {
      daemon.scheduler.close();
      await daemon.inbox.close();
      daemon = await begin();
    },
    async dispose() {
      daemon.scheduler.close();
      await daemon.inbox.close();
      await home.remove();
    },
  };
  return ground;
}

const evidence = { source: "hook", detail: "a hook", at: 1_000_000 } as const;

/** Idle, and nothing of it is news. */
function runningSession(home: { readonly outputsRoot: string }, id: string): Session {
  return makeSession(home, id, {
    state: "running",
    identity: { name: id },
    process: { incarnation: 1, liveness: { status: "running", evidence } },
    conversation: { activity: { status: "idle", asks: null, evidence } },
  });
}

export function approvalOf(id: string, at: number): Approval {
  const request = {
    id,
    kind: "command",
    title: `Run ${id}`,
    subject: `rm -r ${id}`,
    cwd: "/work",
    reason: null,
  } as const;
  return { ...request, requestedAt: at, choices: null, concerns: null, answer: null };
}

/** Its questions have waited too long. */
export function overdue(session: Session, afterMs: number): Amendment {
  const countdowns = session.conversation.approvals.map(({ id, requestedAt }) => ({
    which: "approval" as const,
    cause: `${id} ${requestedAt}`,
    spentMs: afterMs,
    since: null,
    fired: { at: requestedAt + afterMs, afterMs, action: "report" as const, failed: null },
  }));
  return { timeouts: { countdowns } };
}

/** Its newest turn ended so, and nobody has seen it. */
export function turnEnded(
  session: Session,
  verdict: "completed" | "failed",
  failure: NonNullable<Session["conversation"]["lastTurn"]>["failure"] = null,
): Amendment {
  return {
    conversation: {
      turns: session.conversation.turns + 1,
      turnOpen: false,
      activity: { status: "idle", asks: null, evidence },
      lastTurn: {
        startedAt: null,
        id: null,
        verdict,
        error: verdict === "failed" ? "The model said no." : null,
        failure,
        verdictSource: "hook",
        isEnding: false,
        stops: 0,
        prolonged: 0,
        earlier: [],
        inferred: [],
      },
    },
    notice: { newsRevision: session.revision + 1 },
  };
}

export function died(session: Session, code: number, restart: Partial<Session["process"]["restart"]> = {}): Amendment {
  const at = 2_000_000;
  const reason = { code: code === 0 ? "exited" : "failed", text: `Its process exited with status ${code}.`, evidence };
  return {
    state: code === 0 ? "stopped" : "error",
    reason,
    process: {
      exit: { code, signal: null, at },
      failure: code === 0 ? null : "crash",
      endedAt: at,
      restart: { ...session.process.restart, ...restart },
    },
    notice: { newsRevision: session.revision + 1 },
  };
}
