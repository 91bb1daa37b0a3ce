/**
 * What an agent asks before it is ready: whether the directory is trusted, for
 * a log-in, whether a key may be used. Each is reported as awaiting-input with
 * what to do; none of them is mistaken for work, or for a start that takes long.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { runProgram } from "../support/test-home.ts";
import type { Rig, StartOptions, Waited } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, happened, isIdle, press, screenOf } from "./session-steps.ts";

const ONE_TURN = ["turn-started", "turn-completed"];

describe("claude", { timeout: 90_000 }, () => {
  const rig = rigOf(CASES.claude);

  test("a directory that is not trusted: a yes in its pane lets it run its prompt, once", async () => {
    // "No" is selected (2.1.325).
    const types = await trusted(
      rig(),
      /asks whether you trust this folder: attach/,
      ["Down", "Enter"],
      "[[say later]]",
    );
    expect(types).toEqual([...ONE_TURN, ...ONE_TURN]);
  });

  test("a key that was never approved: it asks whether to use it", async () => {
    const user = await rig().addUser("cautious", { trust: [rig().workDir], keyApproved: false });
    const { id, waited } = await asked(rig(), "[[say keyless]]", { user });
    expect(waited.session.asks).toMatch(/found ANTHROPIC_API_KEY and asks whether to use it: attach/);
    expect(timesAsked(rig(), "keyless")).toBe(0);
    await endNow(rig(), id);
  });

  // 2.1.325 has no dialog for it: the composer is there, and the first turn fails.
  test("not logged in: idle without a prompt, and a first turn that fails and says what to do", async () => {
    const user = await rig().addUser("nobody", { trust: [rig().workDir], loggedIn: false });
    const { session_id: quiet } = await rig().start(null, { user });
    await eventually("it is not stuck in its start", () => isIdle(rig(), quiet), 60_000);
    await endNow(rig(), quiet);
    const { session_id: id } = await rig().start("[[say anonymous]]", { user });
    const waited = await rig().wait(id, "--since", "0");
    expect(waited).toMatchObject({ done: true, reason: "turn-failed" });
    expect(waited.session["last_turn_error"]).toMatch(/Not logged in · Please run \/login/);
    expect(timesAsked(rig(), "anonymous")).toBe(0);
    await endNow(rig(), id);
  });
});

describe("gemini", { timeout: 90_000 }, () => {
  const rig = rigOf(CASES.gemini);

  // 0.61.0 runs the prompt before the question is answered, without hooks, and begins anew after a yes. On a busy
  // machine the question may come first: then the prompt is run after the yes, and its hooks tell of it.
  test("a directory that is not trusted: the prompt is run once, and its turn is told once or not at all", async () => {
    const types = await trusted(rig(), /Trust the files in this folder\? Attach/, ["1"], null);
    expect([[], ONE_TURN]).toContainEqual(types);
  });

  test.each([null, "[[say anonymous]]"])("not logged in (prompt: %s)", async (prompt) => {
    await loggedOut(rig(), prompt, /not logged in: run gemini in a terminal/);
  });
});

describe("codex with hooks", { timeout: 90_000 }, () => {
  const rig = rigOf({ ...CASES.codexHooks, args: [] });

  test("a directory that is not trusted: a yes in its pane lets it run its prompt, once", async () => {
    const types = await trusted(
      rig(),
      /asks whether to trust this folder: answer in its pane/,
      ["Enter"],
      "[[say later]]",
    );
    expect(types).toEqual([...ONE_TURN, ...ONE_TURN]);
  });

  test.each([null, "[[say anonymous]]"])("not logged in (prompt: %s)", async (prompt) => {
    await loggedOut(rig(), prompt, /not logged in: run `codex login`/);
  });
});

describe("codex with its app-server", { timeout: 90_000 }, () => {
  const rig = rigOf({ ...CASES.codexAppServer, args: [] });

  // The TUI of 0.166.0 asks only when it opens a thread itself; here it joins one that the server has.
  test("a directory that is not trusted: nothing is asked, and nothing is trusted", async () => {
    const cwd = await repository(rig());
    const { session_id: id } = await rig().start("[[say not asked]]", { cwd });
    expect(await rig().wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
    expect(await screenOf(rig(), id)).not.toMatch(/trust/i);
    const told = rig()
      .asked()[0]
      ?.messages.map((message) => message.text);
    expect(told?.join("\n")).toContain("`sandbox_mode` is `read-only`");
    expect(readFileSync(join(rig().user.dir, ".codex/config.toml"), "utf8")).not.toContain(cwd);
    await endNow(rig(), id);
  });

  test.each([null, "[[say anonymous]]"])("not logged in (prompt: %s)", async (prompt) => {
    await loggedOut(rig(), prompt, /not logged in: run `codex login`/);
  });
});

/** Asked about the directory, answered with these keys; returns what was told of turns. */
async function trusted(
  rig: Rig,
  question: RegExp,
  yes: readonly string[],
  later: string | null,
): Promise<readonly string[]> {
  const prompt = "[[say I am trusted]]";
  const { id, waited } = await asked(rig, prompt, { cwd: await repository(rig) });
  expect(waited.session.asks).toMatch(question);
  expect(await happened(rig, id, "turn-")).toEqual([]);
  if (later !== null) {
    // Typed into the dialog it would be an answer: so it waits.
    expect(await rig.home.json("send", id, later, "--timeout", "1")).toMatchObject({ state: "admitted" });
    expect(await rig.home.session(id)).toMatchObject({ activity: "awaiting-input", liveness: "running" });
  }
  await press(rig, id, ...yes);
  const isThrough = async (): Promise<boolean> =>
    rig.asked().some((request) => request.prompt === (later ?? prompt) && request.outcome === "answered") &&
    (await isIdle(rig, id));
  await eventually("it is through", isThrough, 60_000);
  expect(rig.asked().map((request) => request.prompt)).toEqual(later === null ? [prompt] : [prompt, later]);
  const types = await happened(rig, id, "turn-");
  await endNow(rig, id);
  return types;
}

async function loggedOut(rig: Rig, prompt: string | null, advice: RegExp): Promise<void> {
  const user = await rig.addUser(prompt === null ? "nobody" : "nobody-in-haste", {
    trust: [rig.workDir],
    loggedIn: false,
  });
  const { id, waited } = await asked(rig, prompt, { user });
  expect(waited.session.asks).toMatch(advice);
  expect(timesAsked(rig, "anonymous")).toBe(0);
  await endNow(rig, id);
}

/** Starts it and waits twice: from the beginning, and as somebody who comes later. */
async function asked(
  rig: Rig,
  prompt: string | null,
  options: StartOptions,
): Promise<{ readonly id: string; readonly waited: Waited }> {
  const { session_id: id } = await rig.start(prompt, options);
  const waited = await rig.wait(id, "--since", "0");
  const expected = { done: true, reason: "awaiting-input", session: { state: "running", activity: "awaiting-input" } };
  expect(waited).toMatchObject(expected);
  expect(await rig.wait(id)).toMatchObject(expected);
  return { id, waited };
}

/** Codex 0.166.0 asks in git repositories only. */
async function repository(rig: Rig): Promise<string> {
  const directory = join(rig.home.dir, "strange");
  mkdirSync(directory);
  expect(await runProgram("git", ["init", "-q", directory], rig.home.environment)).toMatchObject({ status: 0 });
  return directory;
}

function timesAsked(rig: Rig, words: string): number {
  return rig.asked().filter((request) => request.prompt.includes(words)).length;
}
