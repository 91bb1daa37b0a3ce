/** The keeper with the real capture proxy: started when needed, started again, taken up, and ended. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { connectControl } from "../../capture/proxy/control-client.ts";
import { markOpen, openMarkPath } from "../../capture/open-mark.ts";
import { openRawLog, RAW_LOG_NAME } from "../../capture/raw-log.ts";
import { systemClock } from "../../platform/clock.ts";
import { isDead, readProcess } from "../../platform/process-table.ts";
import { amend } from "../../session/amend.ts";
import type { SessionEvent } from "../../session/event.ts";
import type { Session } from "../../session/session.ts";
import { makeHome, makeSession, type TestHome } from "../../store/store-fixture.ts";
import { agentWith } from "../attention/watch-fixture.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import { createCaptureGaps } from "./capture-gap.ts";
import { openCaptureRecord } from "./capture-record.ts";
import { createProxyKeeper, type ProxyKeeper } from "./proxy-keeper.ts";

const ENVIRONMENT = { HTTPS_PROXY: "http://proxy.example:3128", TOKEN: "hunter2-hunter2" };
const ROOT = join(import.meta.dirname, "..", "..");

let home: TestHome;
let session: Session;
let schedulers: Scheduler[];
let committed: SessionEvent[];
beforeEach(() => {
  home = makeHome();
  committed = [];
  mkdirSync(home.outputsRoot, { recursive: true });
  schedulers = [];
  const made = makeSession(home, "s", { state: "running", process: { incarnation: 1, place: { pane: "%1" } } });
  const launch = { ...made.identity.launch, persistence: { capture: "proxy", debugLog: null } as const };
  session = amend(made, {
    identity: { launch },
    watch: { capture: { switchedOff: [], upstreams: { model: "https://model.example/v1" } } },
  });
});
afterEach(async () => {
  for (const scheduler of schedulers) scheduler.close();
  await home.remove();
});

const controlPath = (): string => join(home.directory, "c.sock");

function keeper(): ProxyKeeper {
  const scheduler = createScheduler({ clock: systemClock, log: home.log, observe: async () => undefined });
  schedulers.push(scheduler);
  return createProxyKeeper({
    store: { registry: { living: () => [session], all: () => [session], get: () => session } } as never,
    agent: () => agentWith({}),
    runtime: () => ({ environmentOf: async () => ENVIRONMENT }),
    attention: { secretValues: async () => ["hunter2-hunter2"], take: async () => undefined },
    record: openCaptureRecord(join(home.directory, "capture.json")),
    outputsRoot: home.outputsRoot,
    program: {
      command: [process.execPath, join(ROOT, "capture-proxy-main.ts")],
      controlPath: controlPath(),
      stderrPath: join(home.directory, "capture.stderr"),
    },
    doorsDir: join(home.directory, "box"),
    ownEnvironment: { HTTPS_PROXY: "http://proxy.of.the.daemon:3128" },
    clock: systemClock,
    scheduler,
    log: home.log,
    onKept: () => undefined,
    gaps: createCaptureGaps({
      log: {
        latest: async ({ fits }) => committed.filter((body) => fits?.(body)).map((body) => ({ body }) as never)[0],
      },
      ledger: {
        async commitFor(_, make) {
          for (const { body } of make(session)?.events ?? []) committed.push(body as SessionEvent);
        },
      },
      clock: systemClock,
    }),
  });
}

const rawLog = (): string => join(session.identity.outputsDir, RAW_LOG_NAME);
const rawLines = (): readonly Record<string, unknown>[] =>
  existsSync(rawLog())
    ? readFileSync(rawLog(), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    : [];

async function recordedBefore(): Promise<void> {
  const { outputsDir: directory } = session.identity;
  const told = { failed: () => undefined, resumed: () => undefined };
  const log = openRawLog({ directory, capBytes: 1e6, captured: "proxy", clock: systemClock, told });
  log.write({ kind: "response-head", exchange: "e", captured: "proxy", status: 200, headers: [], latency_ms: 1 });
  await log.close();
}

async function status() {
  const control = await connectControl(controlPath(), () => undefined);
  try {
    return await control.status();
  } finally {
    control.close();
  }
}

const served = async (): Promise<readonly string[]> =>
  (await status().catch(() => ({ routes: [] }))).routes.map(({ sessionId }) => sessionId);
const lives = (pid: number): boolean => {
  const row = readProcess(pid);
  return row !== null && !isDead(row);
};

test("started before the agent, again on the same port when it is killed, left to the next daemon, ended when nobody needs it", async () => {
  const first = keeper();
  first.start();
  await first.ready(session);
  await first.serve(session, ENVIRONMENT);
  const before = await status();
  expect(before.routes.map(({ sessionId }) => sessionId)).toEqual(["s"]);
  const address = first.address("s", "model");
  expect(address).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${before.port}/[\\w-]{43}/model$`));

  process.kill(before.pid, "SIGKILL");
  await eventually("another one serves it", async () => (await served()).length === 1);
  const again = await status();
  expect({ port: again.port, isAnother: again.pid !== before.pid }).toEqual({ port: before.port, isAnother: true });

  // A session still needs it.
  await first.close();
  expect(lives(again.pid)).toBe(true);
  const second = keeper();
  second.start();
  expect(second.address("s", "model")).toBe(address);
  await second.serve(session, null);
  expect((await status()).pid).toBe(again.pid);

  const exit = { code: 0, signal: null, at: 1 } as never;
  session = amend(session, { state: "stopped", wish: { desired: "stopped" }, process: { exit } });
  second.attend(session);
  await eventually("it serves nobody", async () => (await served()).length === 0);
  await second.close();
  expect(lives(again.pid)).toBe(false);
  expect(readFileSync(join(home.directory, "capture.json"), "utf8")).not.toContain("hunter2");
});

test("a session that needs no proxy starts none", async () => {
  session = makeSession(home, "s", { state: "running" });
  const one = keeper();
  one.start();
  await one.ready(session);
  await one.serve(session, ENVIRONMENT);
  one.attend(session);
  await one.close();
  await expect(status()).rejects.toThrow();
  expect(() => readFileSync(join(home.directory, "capture.json"))).toThrow(/ENOENT/);
});

test("what a session would inherit of another's capture leads to the model, or is left out", () => {
  const one = keeper();
  const { outputsDir } = session.identity;
  const inherited = {
    BASE_URL: one.address("s", "model"),
    OTHER: one.address("unknown", "model"),
    BODIES: `file:${join(outputsDir, "native")}`,
    TRACE: join(outputsDir, "native"),
    MINE: "/home/me/native",
    PATH: "/bin",
  };
  expect(one.withoutCapture(inherited)).toEqual({
    BASE_URL: "https://model.example/v1",
    MINE: "/home/me/native",
    PATH: "/bin",
  });
});

test("one that is killed leaves a gap, which the log and one event tell of; one that ends leaves none", async () => {
  mkdirSync(session.identity.outputsDir, { recursive: true });
  const first = keeper();
  first.start();
  await first.serve(session, ENVIRONMENT);
  await recordedBefore();
  const [written] = rawLines();
  process.kill((await status()).pid, "SIGKILL");
  await eventually("another one serves it", async () => (await served()).length === 1);
  const gap = rawLines().at(-1);
  expect(rawLines()).toHaveLength(2);
  expect(gap).toMatchObject({ v: 1, seq: 2, kind: "gap", captured: "proxy", from: written?.["at"] });
  expect(Date.parse(String(gap?.["to"]))).toBeGreaterThanOrEqual(Date.parse(String(written?.["at"])));
  expect(committed).toEqual([
    {
      type: "capture-interrupted",
      lastAt: Date.parse(String(gap?.["from"])),
      againAt: Date.parse(String(gap?.["to"])),
    },
  ]);

  // This one ends by itself, and so nothing is missing.
  const exit = { code: 0, signal: null, at: 1 } as never;
  session = amend(session, { state: "stopped", wish: { desired: "stopped" }, process: { exit } });
  await first.close();
  const second = keeper();
  second.start();
  await second.close();
  expect({ lines: rawLines().length, events: committed.length }).toEqual({ lines: 2, events: 1 });
});

test("a session that ended together with the proxy is told of its gap by the next daemon, however often that is killed", async () => {
  const { outputsDir } = session.identity;
  mkdirSync(outputsDir, { recursive: true });
  openCaptureRecord(join(home.directory, "capture.json")).setPort(1);
  await recordedBefore();
  markOpen(outputsDir);
  const exit = { code: 0, signal: null, at: 1 } as never;
  session = amend(session, { state: "stopped", wish: { desired: "stopped" }, process: { exit } });
  const next = async (): Promise<void> => {
    const one = keeper();
    one.start();
    await eventually("it was told", () => !existsSync(openMarkPath(outputsDir)));
    await one.close();
  };
  await next();
  expect(rawLines().map(({ kind }) => kind)).toEqual(["response-head", "gap"]);
  // Killed before it could remove the mark.
  markOpen(outputsDir, committed[0]?.type === "capture-interrupted" ? committed[0].lastAt : 0);
  await next();
  expect(rawLines().map(({ kind }) => kind)).toEqual(["response-head", "gap"]);
  expect(committed).toHaveLength(1);
});
