/**
 * An answer speaks about nothing newer than its question: a runtime that takes its time to list, as any
 * may, over real tmux and over the toy on another machine, with the real observer, ledger and store.
 */
import { commandAgent } from "../../src/agent/command/command-agent.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import type { Listing, Runtime } from "../../src/runtime/contract.ts";
import type { Session } from "../../src/session/session.ts";
import { putSession } from "../../src/store/change.ts";
import type { Store } from "../../src/store/contract.ts";
import { makeHome, makeSession, type TestHome } from "../../src/store/store-fixture.ts";
import { createLedger, type Ledger } from "../../src/supervisor/ledger/ledger.ts";
import { createObserver, type Observer } from "../../src/supervisor/observer.ts";
import { createReceipts } from "../../src/supervisor/ledger/receipts.ts";
import { createScheduler } from "../../src/supervisor/ledger/scheduler.ts";
import { BASE } from "./runtime-ground.ts";
import { makeRemoteFixture } from "./remote-fixture.ts";
import { makeTmuxFixture, type TmuxFixture } from "./tmux-fixture.ts";

const FIXTURES: readonly (readonly [string, () => Promise<TmuxFixture>])[] = [
  ["tmux", () => makeTmuxFixture()],
  ["a remote runtime", makeRemoteFixture],
];

describe.each(FIXTURES)("%s", (_name, makeFixture) => {
  let tmux: TmuxFixture;
  let home: TestHome;
  let store: Store;
  let ledger: Ledger;
  let observer: Observer;
  /** The answers that were given but not handed over yet. */
  let held: { readonly listing: Listing; readonly handOver: () => void }[];
  let isSlow: boolean;

  beforeEach(async () => {
    tmux = await makeFixture();
    home = makeHome();
    store = await home.open();
    const log = (): void => undefined;
    ledger = createLedger({ store, clock: systemClock, log, receipts: createReceipts() });
    held = [];
    isSlow = true;
    const list: Runtime["list"] = async () => slowly(await tmux.runtime.list());
    const slow: Runtime = { ...tmux.runtime, ...HINTLESS, list, kind: "tmux" };
    observer = createObserver({ ...partsOfObserver(), runtimes: [slow] });
  });
  afterEach(async () => {
    await observer.close();
    await home.remove();
    await tmux.dispose();
  });

  function partsOfObserver() {
    const log = (): void => undefined;
    const scheduler = createScheduler({ clock: systemClock, log, observe: async () => undefined });
    return { store, ledger, agent: () => commandAgent, clock: systemClock, scheduler, log, intervalMs: 3_600_000 };
  }

  function slowly(listing: Listing): Promise<Listing> {
    if (!isSlow) return Promise.resolve(listing);
    return new Promise((resolve) => held.push({ listing, handOver: () => resolve(listing) }));
  }

  /** A look whose question is answered, but whose answer is still under way; returns how to let it arrive. */
  async function askSlowly(): Promise<() => Promise<void>> {
    isSlow = true;
    const looked = observer.look();
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [answer] = held.splice(0);
    return async () => {
      isSlow = false;
      answer?.handOver();
      await looked;
    };
  }

  /** Only the test asks. */
  const HINTLESS: Pick<Runtime, "onChange"> = { onChange: () => () => undefined };

  const session = (id: string): Session => store.registry.get(id) ?? makeSession(home, id);

  async function plan(id: string): Promise<void> {
    const starting = makeSession(home, id, {
      state: "starting",
      process: { incarnation: 1 },
      identity: { restartPolicy: "never" },
    });
    await store.commit({ changes: [putSession(starting)] });
  }

  /** As the create effect does it: in the runtime, then as a fact. */
  async function create(id: string): Promise<void> {
    const { incarnation } = session(id).process;
    const request = { sessionId: id, incarnation, argv: ["sleep", "100"], cwd: tmux.workDir, label: id };
    const { place } = await tmux.runtime.create({ ...request, environment: BASE, extraEnvironment: {} });
    const evidence = { source: "runtime", detail: "created", at: 1 } as const;
    await ledger.apply(id, { type: "created", incarnation, place, shown: tmux.runtime.describe(place), evidence });
  }

  test("an absence seen before it was created does not end it", async () => {
    await plan("newborn");
    const arrive = await askSlowly();
    await create("newborn");
    await arrive();
    expect(session("newborn")).toMatchObject({ state: "running", process: { exit: null }, wish: { stop: null } });
    await observer.look();
    expect(session("newborn")).toMatchObject({ state: "running", process: { liveness: { status: "running" } } });
  });

  test("nor one seen before its next incarnation was created", async () => {
    await plan("again");
    await create("again");
    await ledger.apply("again", { type: "restart", graceMs: 0 });
    await tmux.runtime.stop({ sessionId: "again", incarnation: 1 }, { graceMs: 0 });
    const evidence = { source: "runtime", detail: "cleared", at: 1 } as const;
    await ledger.apply("again", { type: "cleared", incarnation: 1, isPlaceGone: false, evidence });
    const arrive = await askSlowly();
    await create("again");
    await arrive();
    expect(session("again")).toMatchObject({ state: "running", process: { incarnation: 2, exit: null } });
  });

  test("several at once are no lost runtime", async () => {
    for (const id of ["one", "two", "three"]) await plan(id);
    const arrive = await askSlowly();
    for (const id of ["one", "two", "three"]) await create(id);
    await arrive();
    expect(["one", "two", "three"].map((id) => session(id).state)).toEqual(["running", "running", "running"]);
    expect(await store.log.read({ after: 0, limit: 100, types: ["runtime-lost"] })).toEqual([]);
  });

  test("what could not be asked before it was created is not unreachable since", async () => {
    await plan("newborn");
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const unanswered: Listing = { reachable: false, askedAt: 1, evidence: "nobody could be asked" };
    let looks = 0;
    const list: Runtime["list"] = async () => {
      looks += 1;
      if (looks === 2) await asked; // the first miss is no verdict yet
      return unanswered;
    };
    const watching = createObserver({
      ...partsOfObserver(),
      runtimes: [{ ...tmux.runtime, ...HINTLESS, list, kind: "tmux" }],
    });
    await watching.look();
    const second = watching.look();
    await create("newborn");
    answer();
    await second;
    expect(session("newborn").process.liveness.status).toBe("running");
    await watching.look();
    expect(session("newborn").process.liveness.status).toBe("unreachable");
    await watching.close();
  });

  test("what was there when it was asked for, and is gone, is gone", async () => {
    await plan("old");
    await create("old");
    tmux.tmux("kill-session", "-t", "=old");
    const arrive = await askSlowly();
    await arrive();
    expect(session("old")).toMatchObject({ state: "error", process: { liveness: { status: "absent" } } });
  });
});
