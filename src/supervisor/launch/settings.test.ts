import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultSettings, noOptions, parseSettings, readSettings } from "./settings.ts";

test("what is not said keeps its default; seconds become milliseconds", () => {
  expect(parseSettings("")).toEqual(defaultSettings);
  expect(parseSettings("[sessions]\nend_grace_seconds = 0.5\noutput_log_bytes = 10\n")).toEqual({
    ...defaultSettings,
    endGraceMs: 500,
    outputLogBytes: 10,
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
    startPatienceMs: 1_500,
    typingPauseMs: 0,
    agents: {
      codex: { command: ["/opt/codex/bin/codex"], mcp: false, settings: { mode: "hooks", depth: 3, is_loud: false } },
      aider: { command: ["aider", "--no-pretty"], mcp: true, settings: { ready: "^>$" } },
      claude: noOptions,
    },
  });
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
  ["[sessions]\nend_grace_seconds = -1", "end_grace_seconds must be a number that is not negative"],
  ["[sessions]\nend_grace_seconds = 'x'", "end_grace_seconds must be a number that is not negative"],
  ["[agent.codex]\nmcp = 'no'", "[agent.codex] mcp must be true or false"],
  ["sessions = 3", "[sessions] must be a table"],
  ["[sessions]\ntoString = 1", "there is no setting toString"],
  ["[sessions]\nagents = 1", "there is no setting agents"],
  ["[sessions]\nend_grace_seconds = inf", "end_grace_seconds must be a number that is not negative"],
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
  ["[agent.codex.deep]\nmode = 'x'", "[agent.codex] deep must be a text, a number, true or false"],
])("%j is refused", (text, why) => {
  expect(() => parseSettings(text)).toThrow(why);
});
