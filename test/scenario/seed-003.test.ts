/**
 * The verification list of the seed "session lifecycle management", line by
 * line, with real tmux. What takes longer than a test may
 * (giving up after ten restarts) is shown on a test clock in
 * src/supervisor/restarts.test.ts.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { createGitRepository } from "../support/git-repository.ts";
import { killIfThere } from "../support/kill.ts";
import { createTestHome, type EventRow, type SessionRow, type TestHome } from "../support/test-home.ts";

const NAMES = ["one", "two", "three"] as const;
const STATES = /^session-(?:planned|starting|running|paused|resumed|exited|errored|adopted)$/;

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

const becomes = (name: string, state: string): Promise<SessionRow> =>
  eventually(`${name} is ${state}`, async () => {
    const session = await home.session(name);
    return session.state === state && session;
  });
const eventsOf = async (name: string): Promise<readonly EventRow[]> =>
  (await home.json<{ events: EventRow[] }>("events", name, "--since", "0")).events;
const statesOf = async (name: string): Promise<readonly string[]> =>
  (await eventsOf(name)).map(({ type }) => type).filter((type) => STATES.test(type));
const say = async (name: string, text: string): Promise<void> => {
  await home.json("send", name, text, "--timeout", "20");
  await home.json("wait", name, "--for", "turn-completed", "--timeout", "30");
};
const kill = async (name: string): Promise<void> => {
  for (const { pid } of home.marked((await home.session(name)).session_id)) killIfThere(pid);
};
const conversationOf = async (name: string): Promise<unknown> =>
  ((await home.session(name))["observability"] as { native_id: unknown }).native_id;

test("start three sessions: unique ids, starting, then running", async () => {
  for (const name of NAMES)
    await home.json("start", "practice", "--name", name, "--restart", "on-failure", "say hello");
  const sessions = await Promise.all(NAMES.map((name) => becomes(name, "running")));
  expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(3);
  for (const name of NAMES)
    expect(await statesOf(name)).toEqual(["session-planned", "session-starting", "session-running"]);
});

test("pause one: input is detached while its process stays; resume attaches it again", async () => {
  await home.json("wait", "one", "--for", "turn-completed", "--since", "0", "--timeout", "30");
  const { pid } = (await home.session("one")).runtime;
  await home.json("pause", "one");
  expect(await home.json("send", "one", "say more", "--timeout", "0.2")).toMatchObject({ state: "admitted" });
  expect(await home.session("one")).toMatchObject({ state: "paused", liveness: "running", turns: 1, runtime: { pid } });
  await home.json("resume", "one");
  await eventually("it took what was held back", async () => (await home.session("one"))["turns"] === 2);
  expect(await home.session("one")).toMatchObject({ state: "running", runtime: { pid } });
});

test("force-stop one: it is error, and is started again if its policy says so", async () => {
  await home.json("wait", "two", "--for", "turn-completed", "--since", "0", "--timeout", "30");
  const before = await conversationOf("two");
  await kill("two");
  await eventually("it was started again", async () => (await home.session("two"))["restarts"] === 1);
  await becomes("two", "running");
  expect(await statesOf("two")).toEqual([
    "session-planned",
    "session-starting",
    "session-running",
    "session-exited",
    "session-errored",
    "session-starting",
    "session-running",
  ]);
  await say("two", "say it again");
  expect([await conversationOf("two"), (await home.session("two"))["turns"]]).toEqual([before, 2]);

  expect(await home.json("restart-policy", "never", "three")).toMatchObject({ session: { restart_policy: "never" } });
  await kill("three");
  const dead = await becomes("three", "error");
  expect(dead).toMatchObject({ restart_due_at: null, reason: "Its process was killed by SIGKILL.", failure: "killed" });
});

test("restart the daemon: everything is loaded again and connected to what survived", async () => {
  const facts = ({ session_id, name, state, runtime, turns }: SessionRow) => ({
    session_id,
    name,
    state,
    runtime,
    turns,
  });
  const before = (await home.list()).map(facts);
  await home.killDaemon();
  expect((await home.list()).map(facts)).toEqual(before);
  for (const name of ["one", "two"] as const) {
    await eventually(`${name} is adopted`, async () => (await statesOf(name)).includes("session-adopted"));
    await say(name, "say you are still there");
  }
});

test("backoff: the pauses grow, and are shown; a person goes first, in both directions", async () => {
  await home.json(
    "start",
    "command",
    "--name",
    "loop",
    "--restart",
    "on-failure",
    "--",
    "sh",
    "-c",
    "echo no fuel; exit 3",
  );
  const waiting = await eventually("it died four times", async () => {
    const session = await askSession(home, "loop");
    return session?.["restarts"] === 3 && session["restart_due_at"] !== null && session;
  });
  expect(waiting.state).toBe("error");
  expect(waiting.reason).toMatch(/^Its process exited with status 3\. Starting again in \d s \(attempt 4 of 10\)\.$/);

  await home.json("restart-policy", "never", "loop");
  expect(await home.session("loop")).toMatchObject({
    restart_due_at: null,
    reason: "Its process exited with status 3. Not started again: its restart policy is now never.",
  });
  await home.json("restart-policy", "always", "loop");
  expect((await home.session("loop"))["restart_due_at"]).not.toBeNull();
  // It dies at once, which the command says; but it went at once, and the loop is counted anew.
  expect((await home.run(["restart", "loop"])).status).toBe(1);
  expect((await home.session("loop")).reason).toContain("(attempt 1 of 10)");
  await home.json("end", "loop");
  expect(await home.session("loop")).toMatchObject({ state: "stopped", restart_due_at: null });

  const events = await eventsOf("loop");
  const instants = (type: string, of: (data: EventRow["data"]) => unknown): readonly number[] =>
    events.filter((event) => event.type === type).map(({ data }) => Date.parse(String(of(data))));
  const deaths = instants("session-exited", ({ exit }) => (exit as { at: string }).at);
  const pauses = instants("restart-scheduled", (data) => data["due_at"]).map(
    (due, index) => due - (deaths[index] ?? 0),
  );
  for (const [index, pause] of pauses.slice(0, 4).entries()) {
    expect(pause).toBeGreaterThanOrEqual(500 * 2 ** index);
    expect(pause).toBeLessThanOrEqual(1_000 * 2 ** index + 5);
  }
});

test("branch: the declared one is recorded, another is refused, and a change is an error", async () => {
  const repository = createGitRepository();
  try {
    const start = (name: string, branch: string) =>
      home.run(
        ["start", "command", "--cwd", repository.root, "--branch", branch, "--name", name, "--json"].concat([
          "--",
          "sleep",
          "100",
        ]),
      );
    expect(JSON.parse((await start("tracked", "main")).stdout)).toMatchObject({ branch: { declared: "main" } });
    await becomes("tracked", "running");
    expect(JSON.parse((await start("elsewhere", "feature")).stdout)).toMatchObject({ error: {} });
    repository.git("switch", "--quiet", "feature");
    await eventually("the mismatch is told", async () =>
      (await eventsOf("tracked")).some(({ type }) => type === "branch-mismatched"),
    );
    expect(await home.session("tracked")).toMatchObject({
      failure: "branch-mismatch",
      branch: { declared: "main", actual: "feature" },
    });
  } finally {
    await home.json("end", "tracked", "--when", "now");
    repository.dispose();
  }
});

test("the policy of a role comes before that of an agent, and is said at the start", async () => {
  home.configure('[agent.command]\nrestart = "on-failure"\n[role.server]\nrestart = "always"\n');
  await home.json("daemon", "stop");
  const start = (...options: readonly string[]) => home.json("start", "command", ...options, "--", "sleep", "100");
  expect(await start()).toMatchObject({ restart_policy: "on-failure", restart_policy_from: "agent" });
  expect(await start("--role", "server")).toMatchObject({ restart_policy: "always", restart_policy_from: "role" });
  expect(await start("--role", "server", "--restart", "never")).toMatchObject({
    restart_policy: "never",
    restart_policy_from: "start",
  });
  const told = await home.run(["start", "command", "--role", "server", "--", "sleep", "100"]);
  expect(told.stdout).toContain("Restart policy: always, from config.toml for its role.");
  const refused = await home.run(["restart-policy", "sometimes", "one", "--json"]);
  expect([refused.status, JSON.parse(refused.stdout)]).toMatchObject([2, { error: { code: "bad-value" } }]);
});
