/** For tests only: a door over a real store and a real supervisor, and a family of sessions. */
import type { Agent } from "../agent/contract.ts";
import type { Runtime } from "../runtime/contract.ts";
import { inertRuntime } from "../runtime/inert-runtime.ts";
import { systemClock } from "../platform/clock.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import type { Session } from "../session/session.ts";
import { putSession } from "../store/change.ts";
import type { Store } from "../store/contract.ts";
import { makeHome, makeSession, type TestHome } from "../store/store-fixture.ts";
import { agentWith } from "../supervisor/attention/watch-fixture.ts";
import { createRuleBook } from "../supervisor/launch/rule-book.ts";
import { defaultSettings } from "../supervisor/launch/settings.ts";
import { createSupervisor } from "../supervisor/supervisor.ts";
import type { Call, Door } from "./door.ts";
import { createDoor } from "./door.ts";

export interface DoorGround {
  readonly home: TestHome;
  readonly store: Store;
  readonly door: Door;
  readonly call: Call;
  /** Its caller went away. */
  leave(): void;
  dispose(): Promise<void>;
}

/** boss started worker, worker started helper; stranger is nobody's; gone has ended. None of them has a process. */
export async function makeDoorGround(
  more: readonly (readonly [string, Partial<Session>])[] = [],
  adapters: {
    readonly runtime?: Runtime;
    readonly agents?: readonly Agent[];
    /** What the door sees of the store. */
    readonly seen?: (store: Store) => Store;
  } = {},
): Promise<DoorGround> {
  const home = makeHome();
  ensurePrivateDir(home.outputsRoot);
  const store = await home.open();
  const family: typeof more = [
    ["boss", {}],
    ["worker", { parentId: "boss" }],
    ["helper", { parentId: "worker" }],
    ["stranger", {}],
    ["gone", { desired: "stopped", state: "stopped" }],
    ...more,
  ];
  for (const [id, changes] of family) {
    const running = { agent: "inline", name: id, state: "running", incarnation: 1 } as const;
    await store.commit({ changes: [putSession(makeSession(home, id, { ...running, ...changes }))] });
  }
  const { log } = home;
  const supervisor = createSupervisor({
    store,
    runtimes: [adapters.runtime ?? inertRuntime("tmux", "There is no tmux here.")],
    agents: [agentWith({}), ...(adapters.agents ?? [])],
    rules: createRuleBook({ shippedDir: home.directory, usersDir: home.directory, declared: new Map(), log }),
    configProblem: null,
    socketDir: home.directory,
    settings: defaultSettings,
    clock: systemClock,
    log,
    ownEnvironment: {},
    scrub: [],
  });
  const daemon = {
    version: "0",
    startedAt: 0,
    socketPath: "/run/reeve.sock",
    warnings: () => [],
    stop: () => undefined,
  };
  const left = new AbortController();
  return {
    home,
    store,
    door: createDoor({
      store: adapters.seen?.(store) ?? store,
      supervisor,
      clock: systemClock,
      outputsDir: home.outputsRoot,
      daemon,
      log,
    }),
    call: { signal: left.signal },
    leave: () => left.abort(),
    async dispose() {
      left.abort();
      await supervisor.close();
      await home.remove();
    },
  };
}
