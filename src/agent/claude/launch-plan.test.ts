import { expect, test } from "vitest";
import type { LaunchContext } from "../contract.ts";
import { nativeIdOf } from "../native-id.ts";
import { knownWith } from "./known-fixture.ts";
import { planLaunch } from "./launch-plan.ts";

const { launch } = knownWith({});
const id = nativeIdOf("s-1");

function contextWith(changes: Partial<LaunchContext>, files: Readonly<Record<string, string>> = {}): LaunchContext {
  return {
    sessionId: "s-1",
    launch,
    resume: null,
    prompt: null,
    sessionDir: "/state/s-1",
    spoolDir: "/state/s-1/spool",
    socketDir: "/run/reeve",
    program: { path: "/opt/claude", version: "2.1.325" },
    settings: {},
    mcp: null,
    capture: null,
    read: (path) => files[path] ?? null,
    ...changes,
  };
}

function settingsOf(context: LaunchContext): Record<string, unknown> {
  const file = planLaunch(context).files.find(({ path }) => path.endsWith("claude-settings.json"));
  return JSON.parse(file?.content ?? "null") as Record<string, unknown>;
}

test("a new conversation has an id that Reeve chose, and its prompt on the command line", () => {
  const plan = planLaunch(
    contextWith({ prompt: "-v is a flag", launch: { ...launch, model: "opus", args: ["--ide"] } }),
  );
  expect({ ...plan, files: plan.files.map(({ path, isExecutable }) => ({ path, isExecutable })) }).toEqual({
    argv: [
      "/opt/claude",
      "--settings",
      "/state/s-1/claude-settings.json",
      "--session-id",
      id,
      "--model",
      "opus",
      "--ide",
      "--",
      "-v is a flag",
    ],
    environment: {},
    files: [
      { path: "/state/s-1/hook.sh", isExecutable: true },
      { path: "/state/s-1/claude-settings.json", isExecutable: false },
    ],
    nativeId: id,
    transcriptPath: `/home/user/.claude/projects/-home-user-project-app/${id}.jsonl`,
    observabilityReason: plan.observabilityReason,
    isPromptLeftOut: false,
    mode: plan.mode,
    channel: null,
    statusDir: "/home/user/.claude/sessions",
  });
});

test("an earlier conversation is resumed where it is", () => {
  const resume = { nativeId: "another", transcriptPath: "/elsewhere/another.jsonl" };
  const { argv, nativeId, transcriptPath } = planLaunch(contextWith({ resume }));
  expect({ argv: argv.slice(3), nativeId, transcriptPath }).toEqual({ argv: ["--resume", "another"], ...resume });
});

test("a prompt that no command line can hold is left out", () => {
  const { argv, isPromptLeftOut } = planLaunch(contextWith({ prompt: "é".repeat(50_001) }));
  expect([argv.includes("--"), isPromptLeftOut]).toEqual([false, true]);
});

test("the user's own settings and hooks stay beside Reeve's", () => {
  const mine = { model: "opus", hooks: { Stop: [{ hooks: [{ type: "command", command: "beep" }] }], Setup: [] } };
  const args = ["--settings", "mine.json"];
  const settings = settingsOf(
    contextWith({ launch: { ...launch, args } }, { "/home/user/project/app/mine.json": JSON.stringify(mine) }),
  );
  expect({ ...settings, hooks: Object.keys(settings["hooks"] as object).toSorted() }).toEqual({
    model: "opus",
    hooks: [
      "Notification",
      "PermissionRequest",
      "PostToolUse",
      "PostToolUseFailure",
      "SessionStart",
      "Setup",
      "Stop",
      "StopFailure",
      "SubagentStart",
      "SubagentStop",
      "UserPromptSubmit",
    ],
  });
  expect((settings["hooks"] as Record<string, unknown>)["Stop"]).toEqual([
    { hooks: [{ type: "command", command: "beep" }] },
    { hooks: [{ type: "command", command: "'/state/s-1/hook.sh'", timeout: 10 }] },
  ]);
});

test("settings that cannot be read are an error, not lost", () => {
  for (const given of ["missing.json", "{broken", "[]"]) {
    const context = contextWith({ launch: { ...launch, args: ["--settings", given] } });
    expect(() => planLaunch(context)).toThrow("--settings");
  }
});

test("settings that switch off hooks are refused, unless the nearest allow them", () => {
  const files = { "/home/user/.claude/settings.json": '{"disableAllHooks":true}' };
  expect(() => planLaunch(contextWith({}, files))).toThrow("disableAllHooks");
  const args = ["--settings", '{"disableAllHooks":false}'];
  expect(settingsOf(contextWith({ launch: { ...launch, args } }, files))).toMatchObject({ disableAllHooks: false });
});
