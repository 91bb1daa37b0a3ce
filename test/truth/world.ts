/**
 * One Reeve for one case: a home, a scripted model, and what watches both all
 * the time: `list` and the events as any client sees them, the kernel beside
 * them. Knows when something could not answer because the harness did that.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/create-client.ts";
import type { Client } from "../../src/client/create-client.ts";
import { daemonCommand } from "../../src/client/daemon-command.ts";
import type { SessionView } from "../../src/client/operation-types.ts";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import { startScriptedModel } from "../scripted-model/scripted-model.ts";
import type { ScriptedModel } from "../scripted-model/scripted-model.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";
import type { TestHome } from "../support/test-home.ts";
import type { Event, FailedCommand, Span } from "./history.ts";
import { daemonOf, signal } from "./kernel.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const LOOK_MS = 200;

/** So that a turn of which nothing is heard is told within a test's patience. */
export const STALL_SECONDS = 10;

export interface Row {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly session: SessionView;
}

export interface World {
  readonly home: TestHome;
  readonly model: ScriptedModel;
  readonly client: Client;
  readonly disturbances: readonly Span[];
  /** From each kill of the daemon to the first answered list. */
  readonly recoveries: readonly number[];
  /** Called with every row of every answered list. */
  onRow(listener: (row: Row) => void): void;
  eventsOf(sessionId: string): readonly Event[];
  /** Called with every event of a session, in order. */
  onEvent(listener: (event: Event, sessionId: string) => void): void;
  tmux(...args: readonly string[]): Promise<string>;
  /** Writes down a call of the client's that failed. */
  fail(words: string, error: unknown): void;
  /** Marks a time in which something cannot answer; the function ends it. */
  disturb(what: string): () => void;
  /** False when there was none to kill. */
  killDaemon(): boolean;
  armFailpoint(name: string): void;
  disarmFailpoint(): void;
  /** Stops watching, ends everything, and says what was wrong with the home as a whole. */
  close(): Promise<WorldReport>;
}

export interface WorldReport {
  readonly leftBehind: readonly string[];
  /** Daemons that died although nobody killed them, with the end of the daemon's log. */
  readonly diedUnasked: readonly string[];
  readonly failedCalls: readonly FailedCommand[];
}

export async function createWorld(config: string): Promise<World> {
  const home = createTestHome();
  const model = await startScriptedModel();
  home.configure(config);
  const environment = { ...(await harmlessEnvironment(home.dir, model.url)), ...home.environment };
  const client = createClient({ home: home.dir }, { daemonCommand: () => daemonCommand(ROOT), environment });
  const disturbances: { from: number; to: number | null; what: string }[] = [];
  const recoveries: number[] = [];
  const killed = new Set<number>();
  let failpointsPassed = 0;
  let isArmed = false;
  const listeners: ((row: Row) => void)[] = [];
  const eventListeners: ((event: Event, sessionId: string) => void)[] = [];
  const homeEvents: Event[] = [];
  const sessionEvents = new Map<string, Event[]>();
  let cursor = 0;
  const links = new Set<string>();
  const closing = new AbortController();

  const failed: FailedCommand[] = [];
  const fail = (words: string, error: unknown): void => {
    const output = error instanceof Error ? error.message : String(error);
    failed.push({ at: Date.now(), words, status: null, output });
  };
  const disturb = (what: string): (() => void) => {
    const span = { from: Date.now(), to: null as number | null, what };
    disturbances.push(span);
    return () => void (span.to ??= Date.now());
  };

  async function look(): Promise<void> {
    const askedAt = Date.now();
    const { sessions } = await client.listSessions({ all: true, limit: 1_000 }, { signal: closing.signal });
    const answeredAt = Date.now();
    for (const span of disturbances.filter(
      (one) => one.what === "no daemon" && one.to === null && one.from < askedAt,
    )) {
      span.to = answeredAt;
      recoveries.push(answeredAt - span.from);
    }
    for (const session of sessions) listeners.forEach((listener) => listener({ askedAt, answeredAt, session }));
  }

  async function readOn(): Promise<void> {
    const page = await client.readEvents({ since: cursor }, { signal: closing.signal });
    for (const { session_id: id, ...view } of page.events) {
      // Another look may have read it meanwhile.
      if (view.seq <= cursor) continue;
      const event = { ...view, at: Date.parse(view.at) };
      cursor = event.seq;
      if (id === null) homeEvents.push(event);
      else {
        const known = sessionEvents.get(id);
        if (known === undefined) sessionEvents.set(id, [event]);
        else known.push(event);
        eventListeners.forEach((listener) => listener(event, id));
      }
    }
  }

  function checkFailpoint(): void {
    if (!isArmed || home.isFailpointArmed()) return;
    isArmed = false;
    failpointsPassed += 1;
    disturb("no daemon");
  }

  /** Sockets may be links to places outside the home; those must be gone in the end, too. */
  function noteLinks(): void {
    const run = join(home.dir, "run");
    for (const name of existsSync(run) ? readdirSync(run) : []) {
      try {
        links.add(readlinkSync(join(run, name)));
      } catch {
        // no link
      }
    }
  }

  const loops = [look, readOn].map((step) =>
    repeat(step, LOOK_MS, closing.signal, (error) =>
      fail(step === look ? "client.listSessions" : "client.readEvents", error),
    ),
  );
  const failpointTimer = setInterval(() => {
    checkFailpoint();
    noteLinks();
  }, 50);

  return {
    home,
    model,
    client,
    disturbances,
    recoveries,
    onRow: (listener) => void listeners.push(listener),
    onEvent: (listener) => void eventListeners.push(listener),
    eventsOf: (sessionId) => sessionEvents.get(sessionId) ?? [],
    tmux: async (...args) => (await runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment)).stdout,
    fail,
    disturb,
    killDaemon() {
      const daemon = daemonOf(home);
      if (daemon === null || !signal(daemon, "SIGKILL")) return false;
      killed.add(daemon.pid);
      home.expectDeath(daemon.pid);
      disturb("no daemon");
      return true;
    },
    armFailpoint(name) {
      home.failAt(name);
      isArmed = true;
    },
    disarmFailpoint() {
      checkFailpoint();
      isArmed = false;
      rmSync(join(home.dir, "failpoint"), { force: true });
    },
    async close() {
      const leftBehind: string[] = [];
      clearInterval(failpointTimer);
      await readOn().catch(() => undefined);
      closing.abort();
      await Promise.all(loops);
      const lastWords = lastLines(join(home.dir, "daemon.log"));
      await home.dispose().catch((error: unknown) => void leftBehind.push(String(error)));
      await model.close();
      leftBehind.push(...[...links].filter((path) => existsSync(path)).map((path) => `socket ${path}`));
      const started = homeEvents.filter(({ type }) => type === "daemon-started").map(({ data }) => Number(data["pid"]));
      const unexplained = started.slice(0, -1).filter((pid) => !killed.has(pid));
      const diedUnasked = unexplained
        .slice(failpointsPassed)
        .map(
          (pid) =>
            `the daemon ${pid} died (started ${started.join(", ")}; killed ${[...killed].join(", ")}): ${lastWords}`,
        );
      return { leftBehind, diedUnasked, failedCalls: failed };
    },
  };
}

/** A look that fails is written down; the next one may succeed. */
async function repeat(
  step: () => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await step().catch((error: unknown) => {
      if (!signal.aborted) onFailure(error);
    });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

function lastLines(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").slice(-12).join(" / ") : "no log";
}

/** For agents that lost their own environment: they reach nobody but the scripted model, and find a home that is set up. */
async function harmlessEnvironment(dir: string, url: string): Promise<Readonly<Record<string, string>>> {
  const homes = [claudeHome, geminiHome, codexHome].map((make) => make(dir, `${url}/s/lost`));
  return Object.assign({}, ...(await Promise.all(homes)).map(({ environment }) => environment)) as Record<
    string,
    string
  >;
}
