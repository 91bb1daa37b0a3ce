/**
 * Sessions of the three real agents on three accounts: the first of each meets
 * the limit of its vendor, the others wait with what they have to do, and all of
 * them finish after the reset. REEVE_TEST_QUOTA_SESSIONS (of each agent) and
 * REEVE_TEST_QUOTA_SECONDS make it longer: seven and twenty is the long run.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import { type ScriptedModel, startScriptedModel } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type EventRow, type SessionRow, type TestHome } from "../support/test-home.ts";
import { CASES, disposeWhole } from "./rig.ts";

const IS_LONG = process.env["REEVE_TEST_QUOTA_SESSIONS"] !== undefined;
const COUNT = Number(process.env["REEVE_TEST_QUOTA_SESSIONS"] ?? "3");
const SECONDS = Number(process.env["REEVE_TEST_QUOTA_SECONDS"] ?? "15");
const PATIENCE_MS = (SECONDS + 60 + COUNT * 20) * 1_000;

let home: TestHome;
let model: ScriptedModel;
let workDir: string;
beforeAll(async () => {
  home = createTestHome();
  home.configure(`[quota]\nstagger_seconds = 0.5\nretry_seconds = ${SECONDS}\n${CASES.codexAppServer.config}`);
  model = await startScriptedModel();
  workDir = join(home.dir, "work");
  mkdirSync(workDir);
});
afterAll(async () => {
  await disposeWhole({ home, dispose: () => home.dispose() });
  await model.close();
}, 120_000);

const HOMES = {
  codex: (dir: string) => codexHome(dir, model.url, { trust: [workDir] }),
  claude: (dir: string) => claudeHome(dir, model.url, { trust: [workDir], plan: true }),
  gemini: (dir: string) => geminiHome(dir, model.url, { trust: [workDir] }),
};

async function starter(agent: keyof typeof HOMES): Promise<(name: string, prompt?: string) => Promise<SessionRow>> {
  const dir = join(home.dir, `home-${agent}`);
  mkdirSync(dir);
  const agentCase = { codex: CASES.codexAppServer, claude: CASES.claude, gemini: CASES.gemini }[agent];
  const { environment: own } = await HOMES[agent](dir);
  const environment = { ...own, ...agentCase.environment, PATH: home.environment["PATH"] ?? "" };
  return async (name, prompt) => {
    const words = [
      "start",
      agent,
      ...(prompt === undefined ? [] : [prompt]),
      "--name",
      name,
      "--cwd",
      workDir,
      "--json",
    ];
    const result = await home.run([...words, "--", ...agentCase.args], { environment });
    if (result.status !== 0) throw new Error(`start ended with ${result.status}: ${result.stdout}${result.stderr}`);
    return JSON.parse(result.stdout) as SessionRow;
  };
}

async function finished(names: readonly string[]): Promise<void> {
  const areDone = async (): Promise<boolean> =>
    (await Promise.all(names.map((name) => home.session(name)))).every(isDone);
  await eventually("all have finished", areDone, PATIENCE_MS);
}

/** The model was asked for this once, and answered. */
function answeredOnce(name: string): void {
  const asked = model.requests({ hidden: false }).filter(({ prompt }) => prompt.includes(`done ${name}]]`));
  expect(
    asked.map(({ outcome }) => outcome),
    name,
  ).toEqual(["answered"]);
}

const isDone = (session: SessionRow): boolean =>
  session["last_turn"] === "completed" && session["turn_open"] === false && session["activity"] === "idle";

const told = (events: readonly EventRow[], type: string): readonly EventRow[] =>
  events.filter((event) => event.type === type);

describe.each(["codex", "claude"] as const)("%s", { timeout: PATIENCE_MS * 2 }, (agent) => {
  test("the others of the account are parked before they fail, nothing is started, all finish, no turn twice", async () => {
    const start = await starter(agent);
    const names = Array.from({ length: COUNT }, (_, index) => `${agent}-${index + 1}`);
    const [first = "", second = "", ...others] = names;
    await start(second);
    await eventually(`${second} is idle`, async () => (await home.session(second))["activity"] === "idle", 60_000);
    const { session_id: firstId } = await start(first, `[[limit ${SECONDS}s once]] [[say done ${first}]]`);
    const parked = await eventually(
      "the limit is noticed",
      async () =>
        told(await home.events(), "quota-parked").find(
          ({ data }) => data["reported_by"] === firstId && data["confidence"] === "stated",
        ),
      60_000,
    );
    expect(parked.data["account"]).toMatch(new RegExp(`^${agent} `));
    await Promise.all([
      home.run(["send", second, `[[say done ${second}]]`, "--timeout", "0"]),
      ...others.map((name) => start(name, `[[say done ${name}]]`)),
    ]);
    const waiting = await Promise.all(names.slice(1).map((name) => home.session(name)));
    expect(waiting.map(({ need }) => need)).toEqual(waiting.map(() => "parked"));
    expect(waiting.filter(({ state }) => state === "starting")).toHaveLength(others.length);

    // Claude Code continues by itself, half a minute to a minute and a half after the reset.
    const awaited = agent === "claude" && !IS_LONG ? names.slice(1) : names;
    await finished(awaited);
    const events = await home.events();
    const ids = new Set((await home.list()).filter(({ name }) => names.includes(name)).map((one) => one.session_id));
    const failed = told(events, "turn-failed").filter(({ session_id: id }) => ids.has(id ?? ""));
    expect(new Set(failed.map(({ session_id: id }) => id))).toEqual(new Set([firstId]));
    for (const name of names.slice(1)) answeredOnce(name);
    const resumed = events.filter(({ data, session_id: id }) => data["is_resume"] === true && ids.has(id ?? ""));
    expect(resumed.map(({ session_id: id }) => id)).toEqual(agent === "claude" ? [] : [firstId]);
    expect(told(events, "quota-opened").filter(({ seq }) => seq > parked.seq)).not.toEqual([]);
  });
});

describe("gemini", { timeout: PATIENCE_MS * 2 }, () => {
  test("it asks again by itself until the limit resets: no turn fails, all finish", async () => {
    const start = await starter("gemini");
    const names = Array.from({ length: COUNT - 1 }, (_, index) => `gemini-${index + 1}`);
    const [first = "", ...others] = names;
    await start(first, `[[limit ${SECONDS}s once]] [[say done ${first}]]`);
    const isRefused = (): boolean =>
      model.requests({ hidden: false }).some(({ outcome, prompt }) => outcome === "failed" && prompt.includes(first));
    await eventually("the first is refused", isRefused, 60_000);
    for (const name of others) await start(name, `[[say done ${name}]]`);
    await finished(names);
    const ids = new Set((await home.list()).filter(({ name }) => names.includes(name)).map((one) => one.session_id));
    const events = (await home.events()).filter(({ session_id: id }) => ids.has(id ?? ""));
    expect(told(events, "turn-failed")).toEqual([]);
    expect(told(events, "turn-completed")).toHaveLength(names.length);
  });
});
