/** For tests only: a door over a real store and a real supervisor, and a family of sessions. */
import { amend, type Amendment } from "../session/amend.ts";
import type { Agent } from "../agent/contract.ts";
import type { EventBody } from "../session/event.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { ImageWorkshop } from "../runtime/images.ts";
import { inertRuntime } from "../runtime/inert-runtime.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { putSession } from "../store/change.ts";
import type { Store } from "../store/contract.ts";
import { makeHome, makeSession, type TestHome } from "../store/store-fixture.ts";
import { agentWith } from "../supervisor/attention/watch-fixture.ts";
import { createRuleBook } from "../supervisor/launch/rule-book.ts";
import { createMemoryStore } from "../memory/memory-store.ts";
import { createIndexProcess } from "../search/index-process.ts";
import { defaultSettings, type Settings } from "../supervisor/launch/settings.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import { openCaptureRecord } from "../supervisor/capture/capture-record.ts";
import { createSupervisor } from "../supervisor/supervisor.ts";
import type { Call, Door } from "./door.ts";
import { createDoor } from "./door.ts";

export interface DoorGround {
  readonly home: TestHome;
  readonly store: Store;
  readonly door: Door;
  readonly supervisor: Supervisor;
  readonly call: Call;
  /** A session that runs, with these changes, and what the log says of it. */
  add(id: string, changes: Amendment, events?: readonly EventBody[]): Promise<void>;
  /** Its caller went away. */
  leave(): void;
  dispose(): Promise<void>;
}

/** A machine without an engine that nobody asks for one. */
const noImages: ImageWorkshop = {
  build: () => Promise.reject(new Error("no image is built here")),
  list: () => Promise.resolve([]),
};

/** boss started worker, worker started helper; stranger is nobody's; gone has ended. None of them has a process. */
export async function makeDoorGround(
  more: readonly (readonly [string, Amendment])[] = [],
  adapters: {
    readonly runtime?: Runtime;
    readonly agents?: readonly Agent[];
    readonly settings?: Partial<Settings>;
    readonly clock?: Clock;
    readonly images?: ImageWorkshop;
    /** What the door sees of the store. */
    readonly seen?: (store: Store) => Store;
  } = {},
): Promise<DoorGround> {
  const home = makeHome();
  ensurePrivateDir(home.outputsRoot);
  const { clock = systemClock } = adapters;
  const store = await home.open({ clock });
  const family: typeof more = [
    ["boss", {}],
    ["worker", { identity: { parentId: "boss" } }],
    ["helper", { identity: { parentId: "worker" } }],
    ["stranger", {}],
    ["gone", { wish: { desired: "stopped" }, state: "stopped" }],
    ...more,
  ];
  const add: DoorGround["add"] = async (id, changes, events = []) => {
    const running = makeSession(home, id, {
      state: "running",
      identity: { agent: "inline", name: id },
      process: { incarnation: 1 },
    });
    await store.commit({
      changes: [putSession(amend(running, changes))],
      events: events.map((body) => ({ sessionId: id, body })),
    });
  };
  for (const [id, changes] of family) await add(id, changes);
  const { log } = home;
  const supervisor = createSupervisor({
    store,
    memories: createMemoryStore(`${home.directory}/memory.db`),
    index: createIndexProcess(`${home.directory}/search.db`, clock),
    runtimes: [adapters.runtime ?? inertRuntime("tmux", "There is no tmux here.")],
    agents: [agentWith({}), ...(adapters.agents ?? [])],
    rules: createRuleBook({ shippedDir: home.directory, usersDir: home.directory, declared: new Map(), log }),
    approvalRules: [],
    configProblem: null,
    socketDir: home.directory,
    socketOfSessions: `${home.directory}/call.sock`,
    outputsRoot: home.outputsRoot,
    directories: [home.outputsRoot],
    settings: { ...defaultSettings, ...adapters.settings },
    probeProgram: "/nonexistent/probe-program.js",
    clock,
    log,
    ownEnvironment: {},
    scrub: [],
    mcp: { command: ["/reeve", "mcp"], variables: [], readOnlyTools: [] },
    capture: {
      record: openCaptureRecord(`${home.directory}/capture.json`),
      doorsDir: `${home.directory}/box`,
      program: {
        command: ["/reeve"],
        controlPath: `${home.directory}/c.sock`,
        stderrPath: `${home.directory}/c.stderr`,
      },
    },
  });
  const daemon = {
    version: "0",
    socketPath: "/nowhere",
    startedAt: 0,
    warnings: () => [],
    stop: () => undefined,
    retireRuntimes: async () => undefined,
  };
  const left = new AbortController();
  return {
    home,
    store,
    supervisor,
    door: createDoor({
      log,
      store: adapters.seen?.(store) ?? store,
      supervisor,
      clock,
      outputsDir: home.outputsRoot,
      daemon,
      images: adapters.images ?? noImages,
    }),
    call: { signal: left.signal },
    add,
    leave: () => left.abort(),
    async dispose() {
      left.abort();
      await supervisor.close();
      await home.remove();
    },
  };
}
