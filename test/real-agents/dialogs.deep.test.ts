/**
 * What an agent asks before it is ready: whether the directory is trusted, for
 * a log-in, whether a key may be used. What keys can answer is an approval,
 * with its question and its choices, and answered through Reeve; the rest is awaiting-input with what to do. None of them is
 * mistaken for work, or for a start that takes long.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { sideBySide } from "../support/side-by-side.ts";
import { runProgram } from "../support/test-home.ts";
import type { Rig, StartOptions, Waited } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, happened, isIdle, press, screenOf } from "./session-steps.ts";

const ONE_TURN = ["turn-started", "turn-completed"];

sideBySide("claude", { timeout: 90_000 }, () => {
  const rig = rigOf(CASES.claude);

  const trust: TrustDialog = {
    title: "Is this a project you created or one you trust?",
    names: (cwd) => cwd,
    approved: () => "Yes, I trust this folder",
    denied: "No, exit (ends the session)",
    // "No" is selected (2.1.325).
    yes: ["Down", "Enter"],
    shows: /Claude Code v/,
  };
  trustTests(rig, trust);

  test("a directory that is not trusted, denied: it ends", async () => {
    await deniedAndEnded(rig(), trust);
  });

  test("approved while another choice is selected, or while this one is: the same", async () => {
    const { id } = await askedToTrust(rig(), trust, "[[say chosen]]");
    await press(rig(), id, "Down");
    await eventually("it is selected", async () => (await screenOf(rig(), id)).includes("❯ Yes, I trust"));
    expect(await rig().home.json("approve", id)).toMatchObject({ state: "settled", decision: "approved" });
    expect(await rig().wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ done: true });
    await endNow(rig(), id);
  });

  test("running without permission checks: asked, and approved", async () => {
    // Root may do that only in a sandbox.
    const options = { args: ["--dangerously-skip-permissions"], environment: { IS_SANDBOX: "1" } };
    const { id } = await asked(rig(), "[[say unchecked]]", options, "awaiting-approval");
    expect(await approvalsOf(rig(), id)).toMatchObject([
      {
        title: "WARNING: Claude Code running in Bypass Permissions mode",
        choices: { approved: "Yes, I accept", denied: "No, exit (ends the session)" },
        answerable: true,
      },
    ]);
    expect(await rig().home.json("approve", id)).toMatchObject({ state: "settled", decision: "approved" });
    expect(await rig().wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ done: true });
    await endNow(rig(), id);
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

sideBySide("gemini", { timeout: 90_000 }, () => {
  const rig = rigOf(CASES.gemini);

  const trust: TrustDialog = {
    title: "Do you trust the files in this folder?",
    names: () => "Trusting a folder allows Gemini CLI to load its local configurations",
    approved: (cwd) => `Trust folder (${basename(cwd)})`,
    denied: "Don't trust (the session goes on without hooks, so Reeve cannot count its turns)",
    yes: ["1"],
    shows: /Gemini CLI is restarting/,
  };
  trustTests(rig, trust);

  test("a directory that is not trusted, denied: it goes on, and its prompt is run once", async () => {
    const { id } = await askedToTrust(rig(), trust, "[[say unhooked]]");
    expect(timesAsked(rig(), "unhooked")).toBe(0);
    expect(await rig().home.json("deny", id)).toMatchObject({ state: "settled", decision: "denied", by: "operator" });
    await eventually("it was asked", () => timesAsked(rig(), "unhooked") === 1, 60_000);
    expect(await rig().home.session(id)).toMatchObject({ state: "running" });
    expect(await screenOf(rig(), id)).toContain("untrusted");
    await endNow(rig(), id);
    expect(timesAsked(rig(), "unhooked")).toBe(1);
  });

  test.each([null, "[[say anonymous]]"])("not logged in (prompt: %s)", async (prompt) => {
    await loggedOut(rig(), prompt, /not logged in: run gemini in a terminal/);
  });
});

sideBySide("codex with hooks", { timeout: 90_000 }, () => {
  const rig = rigOf({ ...CASES.codexHooks, args: [] });

  const trust: TrustDialog = {
    title: "Trust this folder?",
    names: (cwd) => cwd,
    approved: () => "Trust and continue",
    denied: "Quit (ends the session)",
    yes: ["Enter"],
    shows: /OpenAI Codex/,
  };
  trustTests(rig, trust);

  test("a directory that is not trusted, denied: it ends", async () => {
    await deniedAndEnded(rig(), trust);
  });

  test.each([null, "[[say anonymous]]"])("not logged in (prompt: %s)", async (prompt) => {
    await loggedOut(rig(), prompt, /not logged in: run `codex login`/);
  });
});

sideBySide("codex with its app-server", { timeout: 90_000 }, () => {
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

/** A question about the directory, as `reeve approvals` shows it. */
interface TrustDialog {
  readonly title: string;
  /** In what else it says. */
  readonly names: (cwd: string) => string;
  readonly approved: (cwd: string) => string;
  readonly denied: string;
  /** By which keys a person answers it, and what is shown once it is answered. */
  readonly yes: readonly string[];
  readonly shows: RegExp;
}

function trustTests(rig: () => Rig, trust: TrustDialog): void {
  test("a directory that is not trusted, approved: its prompt is run, once, and what was sent meanwhile", async () => {
    const { id, cwd } = await askedToTrust(rig(), trust, "[[say I am trusted]]");
    expect(await approvalsOf(rig(), id)).toMatchObject([
      {
        title: trust.title,
        subject: expect.stringContaining(trust.names(cwd)) as string,
        choices: { approved: trust.approved(cwd), denied: trust.denied },
        answerable: true,
      },
    ]);
    // Typed into the dialog it would be an answer: so it waits.
    expect(await rig().home.json("send", id, "[[say later]]", "--timeout", "1")).toMatchObject({ state: "admitted" });
    expect(await rig().home.session(id)).toMatchObject({ activity: "awaiting-approval", liveness: "running" });
    const expected = { state: "settled", decision: "approved", by: "operator", title: trust.title };
    expect(await rig().home.json("approve", id)).toMatchObject(expected);
    await through(rig(), id, ["I am trusted", "later"]);
    const approvals = ["approval-requested", "approval-answer-requested", "approval-settled"];
    expect(await happened(rig(), id, "approval-")).toEqual(approvals);
    await endNow(rig(), id);
  });

  test("a directory that is not trusted, answered in its pane: an answer that comes after that presses nothing", async () => {
    const { id } = await askedToTrust(rig(), trust, "[[say answered in the pane]]");
    const [{ approval_id: approval } = { approval_id: "" }] = await approvalsOf(rig(), id);
    for (const key of trust.yes) await press(rig(), id, key);
    await eventually("it is answered", async () => trust.shows.test(await screenOf(rig(), id)), 30_000);
    const late = await rig().home.run(["approve", id, approval, "--json"]);
    expect(late.status, late.stdout).not.toBe(0);
    expect(JSON.parse(late.stdout)).not.toMatchObject({ by: "operator" });
    await through(rig(), id, ["answered in the pane"]);
    await endNow(rig(), id);
  });
}

async function deniedAndEnded(rig: Rig, trust: TrustDialog): Promise<void> {
  const { id } = await askedToTrust(rig, trust, "[[say refused]]");
  const expected = { state: "settled", decision: "denied", by: "operator", title: trust.title };
  expect(await rig.home.json("deny", id)).toMatchObject(expected);
  expect(await rig.wait(id, "--since", "0", "--for", "exited")).toMatchObject({ done: true });
  expect(timesAsked(rig, "refused")).toBe(0);
  expect(await happened(rig, id, "turn-")).toEqual([]);
  await endNow(rig, id);
}

async function askedToTrust(
  rig: Rig,
  trust: TrustDialog,
  prompt: string,
): Promise<{ readonly id: string; readonly cwd: string }> {
  const cwd = await repository(rig);
  const { id, waited } = await asked(rig, prompt, { cwd }, "awaiting-approval");
  expect(waited.session.asks).toBe(trust.title);
  expect(await happened(rig, id, "turn-")).toEqual([]);
  return { id, cwd };
}

/** The model was asked each of these once, and nothing else of this session; each is one turn. */
async function through(rig: Rig, id: string, said: readonly string[]): Promise<void> {
  const last = said.at(-1) ?? "";
  const isThrough = async (): Promise<boolean> =>
    rig.asked().some(({ prompt, outcome }) => prompt === `[[say ${last}]]` && outcome === "answered") &&
    (await isIdle(rig, id));
  await eventually("it is through", isThrough, 60_000);
  expect(said.map((words) => timesAsked(rig, words))).toEqual(said.map(() => 1));
  expect(await happened(rig, id, "turn-")).toEqual(said.flatMap(() => ONE_TURN));
}

interface ListedApproval {
  readonly approval_id: string;
  readonly answerable: boolean;
}

async function approvalsOf(rig: Rig, id: string): Promise<readonly ListedApproval[]> {
  return (await rig.home.json<{ approvals: readonly ListedApproval[] }>("approvals", id)).approvals;
}

async function loggedOut(rig: Rig, prompt: string | null, advice: RegExp): Promise<void> {
  const user = await rig.addUser(prompt === null ? "nobody" : "nobody-in-haste", {
    trust: [rig.workDir],
    loggedIn: false,
  });
  const { id, waited } = await asked(rig, prompt, { user });
  expect(waited.session.asks).toMatch(advice);
  const how = `Answer it in the session: reeve attach ${waited.session.name}.`;
  expect(await approvalsOf(rig, id)).toMatchObject([{ answerable: false, choices: null, how_to_answer: how }]);
  expect(timesAsked(rig, "anonymous")).toBe(0);
  await endNow(rig, id);
}

/** Starts it and waits twice: from the beginning, and as somebody who comes later. */
async function asked(
  rig: Rig,
  prompt: string | null,
  options: StartOptions,
  reason: "awaiting-input" | "awaiting-approval" = "awaiting-input",
): Promise<{ readonly id: string; readonly waited: Waited }> {
  const { session_id: id } = await rig.start(prompt, options);
  const waited = await rig.wait(id, "--since", "0");
  const expected = { done: true, reason, session: { state: "running", activity: reason } };
  expect(waited).toMatchObject(expected);
  expect(await rig.wait(id)).toMatchObject(expected);
  return { id, waited };
}

/** Codex 0.166.0 asks in git repositories only. */
async function repository(rig: Rig): Promise<string> {
  const directory = mkdtempSync(join(rig.home.dir, "strange-"));
  expect(await runProgram("git", ["init", "-q", directory], rig.home.environment)).toMatchObject({ status: 0 });
  return directory;
}

function timesAsked(rig: Rig, words: string): number {
  return rig.asked().filter((request) => request.prompt.includes(words)).length;
}
