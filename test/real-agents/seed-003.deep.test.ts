/**
 * The verification list of the seed "session lifecycle management" with the three real agents side by side in one home;
 * with the practice agent, and with its backoff and branches, it is in test/scenario/seed-003.test.ts.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import { type ScriptedModel, startScriptedModel } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { createTestHome, type SessionRow, type TestHome } from "../support/test-home.ts";
import { disposeWhole } from "./rig.ts";

const NAMES = ["claude", "codex", "gemini"] as const;
type Name = (typeof NAMES)[number];
const PREPARE = { claude: claudeHome, codex: codexHome, gemini: geminiHome };
const STATES = /^session-(?:planned|starting|running|paused|resumed|exited|errored|adopted)$/;

let home: TestHome;
let model: ScriptedModel;
const environments = new Map<Name, Readonly<Record<string, string>>>();
beforeAll(async () => {
  home = createTestHome();
  model = await startScriptedModel();
  const work = join(home.dir, "work");
  mkdirSync(work);
  for (const name of NAMES) {
    const dir = join(home.dir, `home-of-${name}`);
    mkdirSync(dir);
    const { environment } = await PREPARE[name](dir, model.url, { trust: [work] });
    environments.set(name, { ...environment, PATH: home.environment["PATH"] ?? "" });
  }
});
afterAll(async () => {
  await disposeWhole({ home, dispose: () => home.dispose() });
  await model.close();
}, 60_000);

const eventsOf = async (name: Name): Promise<readonly string[]> => {
  const { session_id } = await home.session(name);
  return (await home.events()).filter((event) => event.session_id === session_id).map(({ type }) => type);
};
const statesOf = async (name: Name): Promise<readonly string[]> =>
  (await eventsOf(name)).filter((type) => STATES.test(type));
const becomes = (name: Name, state: string): Promise<SessionRow> =>
  eventually(`${name} is ${state}`, async () => {
    const session = await home.session(name);
    return session.state === state && session;
  });
const factsOf = ({ session_id, name, state, runtime, turns }: SessionRow) => ({
  session_id,
  name,
  state,
  runtime,
  turns,
});

async function say(name: Name, text: string): Promise<void> {
  const { cursor } = await home.json<{ cursor: number }>("send", name, `[[say ${text}]]`, "--timeout", "60");
  const waited = await home.json<{ reason: string; reply: { text: string } }>(
    "wait",
    name,
    "--since",
    String(cursor),
    "--timeout",
    "60",
  );
  expect(waited.reason).toBe("turn-completed");
  expect(JSON.stringify(waited)).toContain(text);
}

test("three sessions are started: unique ids, starting, then running, each with its first answer", async () => {
  await Promise.all(
    NAMES.map(async (name) => {
      const line = ["start", name, "[[say ready]]", "--name", name, "--restart", "on-failure", "--json"];
      const { status, stdout } = await home.run([...line, "--cwd", join(home.dir, "work")], {
        environment: environments.get(name) ?? {},
      });
      expect(status, stdout).toBe(0);
    }),
  );
  const sessions = await Promise.all(NAMES.map((name) => becomes(name, "running")));
  expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(3);
  for (const name of NAMES) {
    expect(await statesOf(name)).toEqual(["session-planned", "session-starting", "session-running"]);
    const waited = await home.json("wait", name, "--since", "0", "--for", "turn-completed", "--timeout", "90");
    expect(waited).toMatchObject({ reason: "turn-completed" });
  }
}, 180_000);

test.each(NAMES)(
  "%s is paused: input is held back while its process stays; resumed, it takes it",
  async (name) => {
    const { runtime, turns } = await home.session(name);
    await home.json("pause", name);
    expect(await home.json("send", name, "[[say later]]", "--timeout", "0.5")).toMatchObject({ state: "admitted" });
    expect(await home.session(name)).toMatchObject({ state: "paused", liveness: "running", turns, runtime });
    await home.json("resume", name);
    await eventually(
      "it took what was held back",
      async () => (await home.session(name))["turns"] === Number(turns) + 1,
    );
    await home.json("wait", name, "--timeout", "60");
    expect(await home.session(name)).toMatchObject({ state: "running", runtime });
  },
  120_000,
);

test.each(NAMES)(
  "%s is killed: an error, and started again by its policy, in the same conversation",
  async (name) => {
    const before = await home.session(name);
    for (const { pid } of home.marked(before.session_id)) killIfThere(pid);
    await eventually("it was started again", async () => (await home.session(name))["restarts"] === 1);
    await becomes(name, "running");
    expect((await statesOf(name)).slice(3)).toEqual([
      "session-paused",
      "session-resumed",
      "session-exited",
      "session-errored",
      "session-starting",
      "session-running",
    ]);
    await say(name, "still here");
    const after = await home.session(name);
    const conversation = ({ observability }: SessionRow): unknown =>
      (observability as { readonly native_id: unknown }).native_id;
    expect(conversation(after)).toBe(conversation(before));
  },
  180_000,
);

test("the daemon is killed: everything is loaded again, and connected to what survived", async () => {
  const before = (await home.list()).map(factsOf);
  await home.killDaemon();
  expect((await home.list()).map(factsOf)).toEqual(before);
  for (const name of NAMES) {
    await eventually(`${name} is adopted`, async () => (await statesOf(name)).includes("session-adopted"));
    await say(name, "after the crash");
  }
}, 180_000);

test("whose policy is never stays in error, and says what happened", async () => {
  await home.json("restart-policy", "never", "claude");
  for (const { pid } of home.marked((await home.session("claude")).session_id)) killIfThere(pid);
  expect(await becomes("claude", "error")).toMatchObject({ restart_due_at: null, failure: "killed" });
}, 60_000);
