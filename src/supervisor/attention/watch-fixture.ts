/** For tests only: a real store in a temporary home, a ledger over it, and one running session to watch. */
import { amend, type Amendment } from "../../session/amend.ts";
import { mkdirSync } from "node:fs";
import type { Agent } from "../../agent/contract.ts";
import { redact } from "../../capture/redaction.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { localFiles } from "../../runtime/local-files.ts";
import type { LoggedEvent, SessionEvent } from "../../session/event.ts";
import type { Input } from "../../session/input.ts";
import type { Session } from "../../session/session.ts";
import { putSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeSession, type TestHome } from "../../store/store-fixture.ts";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { createReadings, type Readings } from "./readings.ts";
import { createReceipts, type Receipts } from "../ledger/receipts.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import type { Watcher } from "./watcher.ts";

export const SECRET = "hunter2-hunter2";

export interface Ground {
  readonly home: TestHome;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly readings: Readings;
  readonly receipts: Receipts;
  /** As the daemon gives it to watchers; its agent is the one given. */
  readonly parts: {
    readonly store: Store;
    readonly ledger: Ledger;
    readonly readings: Readings;
    readonly agent: () => Agent;
    readonly runtime: () => Pick<Runtime, "files">;
    readonly clock: Clock;
    readonly scheduler: Scheduler;
    readonly log: TestHome["log"];
  };
  session(): Session;
  apply(input: Input): Promise<Session>;
  events<Type extends SessionEvent["type"]>(
    ...types: readonly Type[]
  ): readonly Extract<SessionEvent, { type: Type }>[];
  /** Has it attend after every commit, as the supervisor does; ended with the ground. */
  use<W extends Watcher>(watcher: W): W;
  /** The daemon dies and comes back: watchers end, everything but the store's files is forgotten. */
  restart(): Promise<Ground>;
  dispose(): Promise<void>;
}

/** One that says nothing but what it is given. */
export function agentWith(changes: Partial<Agent>): Agent {
  return {
    name: "inline",
    capabilities: { turns: true, confirms: false, transcript: true, steer: false },
    wait: "notification",
    program: null,
    sessionVariables: [],
    pathVariables: [],
    plan: () => {
      throw new Error("it is not started in these tests");
    },
    encode: () => [],
    interrupt: null,
    encodeAnswer: () => null,
    shownOf: () => [],
    accepts: () => true,
    readHook: () => null,
    readLine: () => null,
    readMessages: () => [],
    readStatus: () => null,
    readOpenFiles: () => null,
    searchTranscript: () => null,
    ...changes,
  };
}

export async function makeGround(
  agent: Agent,
  changes: Amendment = {},
  home = makeHome(),
  clock: Clock = systemClock,
): Promise<Ground> {
  const store = await home.open();
  const evidence = { source: "runtime", detail: "seen", at: 1 } as const;
  if (store.registry.get("s") === undefined) {
    const session = amend(
      makeSession(home, "s", {
        state: "running",
        identity: { agent: agent.name },
        process: {
          incarnation: 1,
          place: { id: "%1", pid: process.pid, startTicks: "1" },
          liveness: { status: "running", evidence },
        },
        conversation: { activity: { status: "idle", asks: null, evidence: { ...evidence, source: "hook" } } },
      }),
      changes,
    );
    mkdirSync(session.identity.outputsDir, { recursive: true });
    await store.commit({ changes: [putSession(session)] });
  }
  const logged: LoggedEvent[] = [];
  store.log.follow((events) => void logged.push(...events));
  logged.unshift(...(await store.log.read({ after: 0, limit: 10_000 })));
  const receipts = createReceipts();
  const ledger = createLedger({ store, clock, log: home.log, receipts });
  const readings = createReadings({ ledger, clock, redactor: async () => (text) => redact(text, [SECRET]) });
  const scheduler = createScheduler({ clock, log: home.log, observe: async () => undefined });
  const watchers: Watcher[] = [];
  const session = (): Session => store.registry.get("s") ?? makeSession(home, "s");
  ledger.onCommit(() => {
    if (session().process.exit === null) for (const watcher of watchers) watcher.attend(session());
  });
  const close = async (): Promise<void> => {
    scheduler.close();
    await Promise.all(watchers.splice(0).map((watcher) => watcher.close()));
    await ledger.idle();
    await store.close();
  };
  return {
    home,
    store,
    ledger,
    readings,
    receipts,
    parts: {
      store,
      ledger,
      readings,
      agent: () => agent,
      runtime: () => ({ files: localFiles }),
      clock,
      scheduler,
      log: home.log,
    },
    session,
    apply: (input) => ledger.apply("s", input),
    events: <Type extends SessionEvent["type"]>(...types: readonly Type[]) =>
      logged
        .map(({ body }) => body)
        .filter((body): body is Extract<SessionEvent, { type: Type }> => types.some((type) => type === body.type)),
    use(watcher) {
      watchers.push(watcher);
      watcher.attend(session());
      return watcher;
    },
    async restart() {
      await close();
      return makeGround(agent, changes, home, clock);
    },
    async dispose() {
      await close();
      await home.remove();
    },
  };
}
