import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { Agent } from "../../agent/contract.ts";
import type { ActivityStatus } from "../../session/session.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { makeHome, type TestHome } from "../../store/store-fixture.ts";
import { createSoftWatch } from "./soft-watch.ts";
import { createStatusWatch } from "./status-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";
import type { Watcher } from "./watcher.ts";

/** Its own file is `<conversation>.json`, whose content is the activity; a file of digits names its process, too. */
const agent: Agent = agentWith({
  readHolder: ({ name }) =>
    /^\d+\.json$/.test(name) ? { pid: Number.parseInt(name, 10), startTicks: "1" } : { pid: 2, startTicks: "1" },
  readStatus({ name, content }, known) {
    if (name !== `${known.nativeId}.json` && !/^\d+\.json$/.test(name)) return null;
    return content === null
      ? { source: "screen", detail: "status file removed", activity: "awaiting-input" }
      : { source: "screen", detail: `status file: ${content.length}`, activity: content.trim() as ActivityStatus };
  },
});

/** Processes with an even number are of the first incarnation, the others of the second. */
const runtime = (): Pick<Runtime, "owns" | "files"> => ({
  files: localFiles,
  owns: async ({ incarnation }, { pid }) => (await delay(), (pid % 2) + 1 === incarnation),
});

/** How long the runtime takes to answer. */
let delay: () => Promise<void>;
let home: TestHome;
let ground: Ground;
let directory: string;
let watcher: Watcher;
beforeEach(async () => {
  delay = async () => undefined;
  home = makeHome();
  directory = join(home.directory, "status");
  const evidence = { source: "operator", detail: "asked for", at: 1 } as const;
  ground = await makeGround(
    agent,
    {
      conversation: { nativeId: "n-1", activity: { status: "starting", asks: null, evidence } },
      watch: { mode: "status", text: "", version: null, socket: null, statusDir: directory },
    },
    home,
  );
});
afterEach(() => ground.dispose());

function watch(): void {
  watcher = ground.use(
    createStatusWatch({ ...ground.parts, runtime, soft: createSoftWatch({ ...ground.parts, staysMs: 500 }) }),
  );
}
function say(activity: string, name = "n-1.json"): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `.${name}.tmp`), activity);
  renameSync(join(directory, `.${name}.tmp`), join(directory, name));
}
const is = (activity: ActivityStatus): Promise<unknown> =>
  eventually(`it is ${activity}`, () => ground.session().conversation.activity.status === activity);

test("what it says when the watch begins counts", async () => {
  say("idle");
  watch();
  await is("idle");
  expect(ground.session().conversation.activity.evidence).toMatchObject({ source: "screen", detail: "status file: 4" });
});

test("a directory that only appears later is found", async () => {
  watch();
  say("idle");
  await is("idle");
});

test("what it says later counts; files of others say nothing", async () => {
  mkdirSync(directory);
  watch();
  say("working", "n-2.json");
  say("awaiting-input");
  await is("awaiting-input");
  expect(ground.events("activity-changed").map(({ activity }) => activity.status)).toEqual(["awaiting-input"]);
});

test("a contradiction counts once it stayed, read again by then", async () => {
  say("idle");
  watch();
  await is("idle");
  await ground.readings.take(ground.session(), { source: "hook", detail: "x", turn: { phase: "started", id: "a" } });
  expect(ground.session().conversation.activity.status).toBe("working");
  say("idle\n");
  await is("idle");
  expect(ground.events("turn-interrupted")).toMatchObject([
    { turn: 1, evidence: { detail: "status file: 5; idle again, and no source reported an end" } },
  ]);
});

test("what is no file, or too large, is not read", async () => {
  mkdirSync(join(directory, "n-1.json"), { recursive: true });
  watch();
  // Removed or not a file: the agent is told that there is nothing to read.
  await is("awaiting-input");
  rmSync(join(directory, "n-1.json"), { recursive: true });
  say(`idle${" ".repeat(100_000)}`);
  say("working", "n-1.json");
  await is("working");
});

test("after the end nothing is read", async () => {
  say("idle");
  watch();
  await is("idle");
  await watcher.leave(ground.session());
  say("awaiting-input");
  const soft = createSoftWatch({ ...ground.parts, staysMs: 500 });
  const other = createStatusWatch({ ...ground.parts, runtime, soft });
  expect(ground.session().conversation.activity.status).toBe("idle");
  // Watched again, so that there was time enough for what must not happen.
  other.attend(ground.session());
  await is("awaiting-input");
  expect(ground.events("activity-changed").map(({ activity }) => activity.status)).toEqual(["idle", "awaiting-input"]);
  await other.close();
});

test("a file of a process of another incarnation says nothing", async () => {
  mkdirSync(directory);
  watch();
  say("awaiting-input", "4711.json");
  say("idle", "4712.json");
  await is("idle");
  expect(ground.events("activity-changed").map(({ activity }) => activity.status)).toEqual(["idle"]);
});

test("of two answers that arrive in the other order the newer file counts", async () => {
  mkdirSync(directory);
  const { promise: first, resolve: answerFirst } = Promise.withResolvers<void>();
  const delays = [first];
  delay = () => delays.shift() ?? Promise.resolve();
  watch();
  say("working", "4710.json");
  await eventually("the first is asked about", () => delays.length === 0);
  say("awaiting-input", "4710.json");
  answerFirst();
  await is("awaiting-input");
  expect(ground.events("activity-changed").map(({ activity }) => activity.status)).toEqual([
    "working",
    "awaiting-input",
  ]);
});
