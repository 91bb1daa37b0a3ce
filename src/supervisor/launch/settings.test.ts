import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chosenRestartPolicy } from "./chosen-restart-policy.ts";
import { timeOutsOf } from "./time-outs-of.ts";
import { defaultSettings, noOptions, parseSettings, readSettings } from "./settings.ts";
import { mostWorkers } from "./most-workers.ts";
import { isOnFor } from "./session-switch.ts";

test("what is not said keeps its default; seconds become milliseconds", () => {
  expect(parseSettings("")).toEqual(defaultSettings);
  expect(parseSettings("[sessions]\nend_grace_seconds = 0.5\noutput_log_bytes = 2048\n")).toEqual({
    ...defaultSettings,
    timeouts: { stop_grace: { afterMs: 500, action: null } },
    outputLogBytes: 2_048,
  });
  expect(readSettings("/no/such/config.toml")).toEqual(defaultSettings);
});

test("agents: which program, and what is the agent's own business", () => {
  const text = `
[sessions]
stall_seconds = 30
start_patience_seconds = 1.5
typing_pause_seconds = 0

[agent.codex]
command = "/opt/codex/bin/codex"
mode = "hooks"
mcp = false
depth = 3
is_loud = false

[agent.aider]
command = ["aider", "--no-pretty"]
ready = '^>$'

[agent.claude]
`;
  expect(parseSettings(text)).toEqual({
    ...defaultSettings,
    stallAfterMs: 30_000,
    timeouts: { start: { afterMs: 1_500, action: null } },
    typingPauseMs: 0,
    agents: {
      codex: {
        ...noOptions,
        command: ["/opt/codex/bin/codex"],
        mcp: false,
        settings: { mode: "hooks", depth: 3, is_loud: false },
      },
      aider: { ...noOptions, command: ["aider", "--no-pretty"], settings: { ready: "^>$" } },
      claude: noOptions,
    },
  });
});

test("a restart policy by agent and by role", () => {
  const settings = parseSettings(
    "[agent.codex]\nrestart = 'on-failure'\n[role.server]\nrestart = 'always'\n[role.idle]",
  );
  const container = { memoryBytes: null, cpus: null, pids: null, network: null, mounts: null };
  const idle = {
    restart: null,
    timeouts: {},
    mostWorkers: null,
    persistSession: null,
    runtime: null,
    image: null,
    container,
  };
  expect(settings).toEqual({
    ...defaultSettings,
    agents: { codex: { ...noOptions, restart: "on-failure" } },
    roles: { server: { ...idle, restart: "always" }, idle },
  });
  const chosen = (start: { role: string; agent: string; restart?: "never" }) => chosenRestartPolicy(start, settings);
  expect(chosen({ agent: "codex", role: "server", restart: "never" })).toEqual({ policy: "never", from: "start" });
  expect(chosen({ agent: "codex", role: "server" })).toEqual({ policy: "always", from: "role" });
  expect(chosen({ agent: "codex", role: "idle" })).toEqual({ policy: "on-failure", from: "agent" });
  expect(chosen({ agent: "claude", role: "idle" })).toEqual({ policy: "never", from: "default" });
});

test("time-outs: for all, by agent and by role; the older names say the same", () => {
  const settings = parseSettings(`
[sessions]
end_grace_seconds = 2
[timeouts]
turn = { after = "30m", then = "interrupt" }
age = "off"
approval = 60
[agent.codex.timeouts]
turn = 7200
start = "1m30s"
[role.server.timeouts]
idle = { after = 600, then = "report" }
`);
  const session = (role: string, agent: string, chosen = {}) =>
    timeOutsOf({ identity: { role, agent }, timeouts: { chosen, countdowns: [] } } as never, settings);
  expect(session("other", "claude")).toEqual({
    start: { afterMs: 60_000, action: "report", from: "default" },
    turn: { afterMs: 1_800_000, action: "interrupt", from: "settings" },
    idle: { afterMs: null, action: "end", from: "default" },
    approval: { afterMs: 60_000, action: "report", from: "settings" },
    stop_grace: { afterMs: 2_000, action: "kill", from: "settings" },
    age: { afterMs: null, action: "end", from: "settings" },
  });
  // What a choice does not say of the action, a less particular one does.
  expect(session("server", "codex", { idle: { afterMs: 5_000, action: null } })).toMatchObject({
    turn: { afterMs: 7_200_000, action: "interrupt", from: "agent" },
    start: { afterMs: 90_000, action: "report", from: "agent" },
    idle: { afterMs: 5_000, action: "report", from: "start" },
  });
});

test.each([
  ["[timeouts]\nturns = 5", "there is no time-out turns in [timeouts]; there are start, turn,"],
  ["[timeouts]\nturn = 'soon'", '[timeouts] turn must be a number of seconds, a time like "30m" or "2h", or "off"'],
  ["[timeouts]\nturn = 0", "[timeouts] turn must be a number of seconds"],
  ["[timeouts]\nidle = -1", "[timeouts] idle must be a number of seconds"],
  [
    "[timeouts]\nidle = { after = 5, then = 'interrupt' }",
    '[timeouts] idle cannot do "interrupt"; it can report or end',
  ],
  ["[timeouts]\nage = { then = 'end' }", "[timeouts] age must be a number of seconds"],
  ["[timeouts]\nage = { after = 5, when = 3 }", "[timeouts] age has no setting when; it takes after and then"],
  ["[timeouts]\nstop_grace = 'off'", "[timeouts] stop_grace cannot be off"],
  ["[timeouts]\nstop_grace = '2h'", "[timeouts] stop_grace is at most 3600 seconds"],
  ["[role.a.timeouts]\nturn = true", "[role.a.timeouts] turn must be a number of seconds"],
  ["[agent.a]\ntimeouts = 5", "[agent.a.timeouts] must be a table"],
  [
    "[sessions]\nend_grace_seconds = 1\n[timeouts]\nstop_grace = 2",
    "end_grace_seconds in [sessions] and stop_grace in [timeouts] say the same; remove the first",
  ],
])("%s is refused with one sentence", (text, why) => {
  expect(() => parseSettings(text)).toThrow(why);
});

test.each([
  ["[sessions]\nhealth_interval_seconds = 0", "health_interval_seconds must be a number from 0.1 to 3600"],
  ["[sessions]\nhealth_interval_seconds = 'often'", "health_interval_seconds must be a number from 0.1 to 3600"],
  ["[sessions]\nsweep_interval_seconds = 0.01", "sweep_interval_seconds must be a number from 0.1 to 86400"],
  ["[sessions]\nstall_seconds = inf", "stall_seconds must be a number from 1 to 31536000"],
  ["[sessions]\ntyping_pause_seconds = -1", "typing_pause_seconds must be a number from 0 to 3600"],
  ["[sessions]\noutput_log_bytes = 0", "output_log_bytes must be a whole number from 1024 to 1073741824"],
  ["[sessions]\nmost_depth = 2.5", "most_depth must be a whole number from 0 to 100"],
  ["[sessions]\nmost_descendants = 1e9", "most_descendants must be a whole number from 0 to 10000"],
  ["[sessions]\nend_grace_seconds = 3601", "end_grace_seconds must be a number from 0 to 3600"],
  ["[sessions]\nstart_patience_seconds = 0", "start_patience_seconds must be a number from 0.1 to 31536000"],
  ["[timeouts]\nstart = 0", 'or "off"; more than 0 and at most 31536000 seconds'],
  ["[docker]\npids = 1.5", "[docker] pids must be a whole number from 1 to 4194304"],
  ["[role.a]\ncpus = 0", "[role.a] cpus must be a number from 0.01 to 4096"],
])("%s is refused, and the range is named", (text, why) => {
  expect(() => parseSettings(text)).toThrow(why);
});

test.each([
  "[sessions]\nhealth_interval_seconds = 0.1",
  "[sessions]\nhealth_interval_seconds = 3600",
  "[sessions]\norphan_grace_seconds = 0",
  "[sessions]\nmost_depth = 0\nmost_descendants = 10000",
  "[sessions]\nend_grace_seconds = 0",
  "[docker]\npids = 1\ncpus = 0.5",
])("%s is in its range", (text) => {
  expect(() => parseSettings(text)).not.toThrow();
});

test("how many may work at once, by machine, agent and role", () => {
  const settings = parseSettings(
    "[work]\nmost_workers = 9\nverify_timeout_seconds = 1.5\n[agent.codex]\nmost_workers = 2\n[role.tester]\nmost_workers = 0\n[role.idle]",
  );
  expect(settings.work).toEqual({ mostWorkers: 9, verifyTimeoutMs: 1_500 });
  expect(mostWorkers(settings)).toEqual({ machine: 9, byAgent: { codex: 2 }, byRole: { tester: 0 } });
  expect(mostWorkers(defaultSettings)).toEqual({ machine: 4, byAgent: {}, byRole: {} });
});

test("git: what follows another branch, and whether checkouts are shared", () => {
  expect(parseSettings('[git]\nbranch_policy = "pause"\nshared_checkouts = true\n')).toEqual({
    ...defaultSettings,
    git: { ...defaultSettings.git, branchPolicy: "pause", sharedCheckouts: true },
  });
  expect(() => parseSettings('[git]\nbranch_policy = "stop"\n')).toThrow('must be one of "warn", "pause", "error"');
  expect(() => parseSettings("[git]\nshared_checkouts = 1\n")).toThrow("shared_checkouts must be true or false");
  expect(() => parseSettings("[git]\nbranches = 1\n")).toThrow("there is no setting branches in [git]");
});

test("a file that is not right says where it is and what to do", () => {
  const directory = mkdtempSync(join(tmpdir(), "reeve-settings-"));
  const path = join(directory, "config.toml");
  try {
    writeFileSync(path, "[agent.codex]\ncommand = 3");
    expect(() => readSettings(path)).toThrow(
      expect.objectContaining({
        code: "config-invalid",
        kind: "config",
        message: `${path} is not right: [agent.codex] command must be a program or a list of words; fix or remove it, then run: reeve daemon stop.`,
      }),
    );
    writeFileSync(path, "[agent");
    expect(() => readSettings(path)).toThrow(expect.objectContaining({ code: "config-invalid" }));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test.each([
  ["[sessions]\ngrace = 1", "there is no setting grace"],
  ["[other]\n", "there is no section [other]"],
  ["[sessions]\nend_grace_seconds = -1", "end_grace_seconds must be a number from 0 to 3600"],
  ["[sessions]\nend_grace_seconds = 'x'", "end_grace_seconds must be a number from 0 to 3600"],
  ["[agent.codex]\nmcp = 'no'", "[agent.codex] mcp must be true or false"],
  ["sessions = 3", "[sessions] must be a table"],
  ["[sessions]\ntoString = 1", "there is no setting toString"],
  ["[sessions]\nagents = 1", "there is no setting agents"],
  ["[sessions]\nend_grace_seconds = inf", "end_grace_seconds must be a number from 0 to 3600"],
  ["agent = 'codex'", "[agent] must be a table"],
  ["[[agent]]\nname = 'codex'", "[agent] must be a table"],
  ["[agent]\ncodex = 2026-01-31", "[agent.codex] must be a table"],
  ["[agent]\ncodex = 'x'", "[agent.codex] must be a table"],
  ["[agent.Codex]", 'an agent\'s name is made of lower-case letters, digits and dashes, not "Codex"'],
  ["[agent.'../x']", 'digits and dashes, not "../x"'],
  ["[agent.codex]\ncommand = 3", "[agent.codex] command must be a program or a list of words"],
  ["[agent.codex]\ncommand = ''", "[agent.codex] command must be a program or a list of words"],
  ["[agent.codex]\ncommand = ['codex', 3]", "[agent.codex] command must be a program or a list of words"],
  ["[agent.codex]\nmode = ['hooks']", "[agent.codex] mode must be a text, a number, true or false"],
  ["[agent.codex]\nrestart = 'sometimes'", '[agent.codex] restart must be one of "never", "on-failure", "always"'],
  ["[role.server]\nrestart = true", '[role.server] restart must be one of "never", "on-failure", "always"'],
  ["[role.server]\nmodel = 'x'", "there is no setting model in [role.server]"],
  ["[role.'../x']", 'a role\'s name is made of lower-case letters, digits and dashes, not "../x"'],
  ["role = 'server'", "[role] must be a table"],
  ["[work]\nworkers = 3", "there is no setting workers in [work]"],
  ["[work]\nmost_workers = 1.5", "[work] most_workers must be a whole number from 0 to 1000"],
  ["[agent.codex]\nmost_workers = 'many'", "[agent.codex] most_workers must be a whole number from 0 to 1000"],
  ["[role.tester]\nmost_workers = -1", "[role.tester] most_workers must be a whole number from 0 to 1000"],
  ["[work]\nverify_timeout_seconds = 0", "[work] verify_timeout_seconds must be a number from 1 to 86400"],
  ["[notify]\ntype = 'bell'", "[[notify]] must be a list of tables"],
  ["[[notify]]\ntype = 'webhook'\nurl = 'nowhere'", "[[notify]] number 1: url must be an address"],
  ["[agent.codex.deep]\nmode = 'x'", "[agent.codex] deep must be a text, a number, true or false"],
])("%j is refused", (text, why) => {
  expect(() => parseSettings(text)).toThrow(why);
});

test("switches of a session: the role counts more than the agent, the agent more than [sessions]", () => {
  const settings = parseSettings(`
[sessions]
recovery_wakes = false
[agent.codex]
memory_reminder = true
mode = "hooks"
[role.quiet]
memory_reminder = false
recovery_wakes = true
`);
  const both = (agent: string, role: string): readonly boolean[] =>
    (["memory_reminder", "recovery_wakes"] as const).map((name) => isOnFor(name, { agent, role }, settings));
  expect(both("codex", "agent")).toEqual([true, false]);
  expect(both("codex", "quiet")).toEqual([false, true]);
  expect(both("claude", "agent")).toEqual([false, false]);
  expect(settings.agents["codex"]?.settings).toEqual({ mode: "hooks" });
  const byDefault = (["memory_reminder", "recovery_wakes"] as const).map((name) =>
    isOnFor(name, { agent: "codex", role: "agent" }, defaultSettings),
  );
  expect(byDefault).toEqual([false, true]);
  expect(() => parseSettings("[role.quiet]\nmemory_reminder = 1\n")).toThrow(
    "[role.quiet] memory_reminder must be true or false",
  );
});
