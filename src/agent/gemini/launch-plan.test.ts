import { expect, test } from "vitest";
import type { LaunchContext } from "../contract.ts";
import { knownWith, NATIVE_ID } from "./known-under-test.ts";
import { planLaunch } from "./launch-plan.ts";

function contextWith(changes: Partial<LaunchContext>): LaunchContext {
  return {
    sessionId: "s-1",
    launch: knownWith({}).launch,
    resume: null,
    prompt: null,
    sessionDir: "/reeve/s-1",
    spoolDir: "/reeve/s-1/spool",
    socketDir: "/run/reeve",
    program: { path: "/bin/gemini", version: "0.61.0" },
    settings: {},
    mcp: null,
    capture: null,
    read: () => null,
    ...changes,
  };
}

const trusting = (path: string): string | null =>
  path.endsWith("/trustedFolders.json") ? '{ "/home/user/work": "TRUST_FOLDER" }' : null;

const LAUNCHER = [
  "/bin/sh",
  "/reeve/s-1/gemini-launch.sh",
  "/home/user/.gemini",
  "/reeve/s-1/reeve-gemini-home/.gemini",
];

test("a new conversation, with a prompt that begins with a dash", () => {
  const { files, ...plan } = planLaunch(contextWith({ prompt: "-x\ny", read: trusting }));
  const id = plan.nativeId ?? "";
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(plan).toEqual({
    argv: [...LAUNCHER, id, "/bin/gemini", "--session-id", id, "--prompt-interactive=-x\ny"],
    environment: {
      GEMINI_CLI_HOME: "/reeve/s-1/reeve-gemini-home",
      GEMINI_CLI_TRUSTED_FOLDERS_PATH: "/home/user/.gemini/trustedFolders.json",
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
    nativeId: id,
    transcriptPath: null,
    observabilityReason: expect.stringContaining("appears when") as string,
    isPromptLeftOut: false,
    mode: { name: "hooks", text: expect.any(String) as string },
    channel: null,
    statusDir: null,
  });
  expect(files.map(({ path, isExecutable }) => [path, isExecutable])).toEqual([
    ["/reeve/s-1/hook.sh", true],
    ["/reeve/s-1/gemini-launch.sh", true],
    ["/reeve/s-1/gemini-start.sh", true],
    ["/reeve/s-1/gemini-after.sh", true],
    ["/reeve/s-1/reeve-gemini-home/.gemini/settings.json", false],
  ]);
});

test("a resumed conversation, with a model and the user's arguments", () => {
  const launch = { ...knownWith({}).launch, model: "gemini-3-pro", args: ["--yolo"] };
  const resume = { nativeId: NATIVE_ID, transcriptPath: "/t.jsonl" };
  const plan = planLaunch(contextWith({ launch, resume }));
  const rest = ["--resume", NATIVE_ID, "--model", "gemini-3-pro", "--yolo"];
  expect(plan.argv).toEqual([...LAUNCHER, NATIVE_ID, "/bin/gemini", ...rest]);
  expect([plan.nativeId, plan.transcriptPath]).toEqual([NATIVE_ID, "/t.jsonl"]);
});

test("the user's own GEMINI_CLI_HOME counts, one inherited from another session does not", () => {
  const withHome = (home: string) => {
    const launch = { ...knownWith({}).launch, paths: { HOME: "/home/user", GEMINI_CLI_HOME: home } };
    return planLaunch(contextWith({ launch })).argv[2];
  };
  expect(withHome("/opt/gemini")).toBe("/opt/gemini/.gemini");
  expect(withHome("/reeve/s-0/reeve-gemini-home")).toBe("/home/user/.gemini");
});

test("a prompt is left out where it would be asked whether the folder is trusted", () => {
  const plan = planLaunch(contextWith({ prompt: "go" }));
  expect(plan).toMatchObject({
    isPromptLeftOut: true,
    argv: [...LAUNCHER, plan.nativeId, "/bin/gemini", "--session-id", plan.nativeId],
  });
});

test("a prompt that is too long for an argument is left out", () => {
  const plan = planLaunch(contextWith({ prompt: "é".repeat(60_000), read: trusting }));
  expect([plan.isPromptLeftOut, plan.argv.length]).toEqual([true, 8]);
});

test("where hooks are switched off it is watched by its screen", () => {
  const read = () => '{"hooksConfig":{"enabled":false}}';
  expect(planLaunch(contextWith({ read })).mode.name).toBe("screen");
});

test("a path with blanks and quotes reaches the shell whole", () => {
  const sessionDir = "/my dir/it's";
  const settings = planLaunch(contextWith({ sessionDir })).files.at(-1)?.content ?? "";
  expect(settings).toContain(JSON.stringify(`'/my dir/it'\\''s/hook.sh'`));
});

test.each([
  [["--resume", "latest"], "arguments-unsupported"],
  [["-p", "x"], "arguments-unsupported"],
  [["--session-id=1"], "arguments-unsupported"],
  [["--yolo", "--acp"], "arguments-unsupported"],
  [["mcp", "list"], "arguments-unsupported"],
  [["--", "x"], "arguments-unsupported"],
])("refuses %j", (args, code) => {
  const launch = { ...knownWith({}).launch, args };
  expect(() => planLaunch(contextWith({ launch }))).toThrow(expect.objectContaining({ code, kind: "usage" }) as Error);
});

test("refuses a model that is given twice, an id that is none and a missing home", () => {
  const { launch } = knownWith({});
  const refused = (changes: Partial<LaunchContext>, code: string) =>
    expect(() => planLaunch(contextWith(changes))).toThrow(expect.objectContaining({ code, kind: "usage" }) as Error);
  refused({ launch: { ...launch, model: "a", args: ["-m", "b"] } }, "model-given-twice");
  refused({ resume: { nativeId: "latest", transcriptPath: null } }, "conversation-malformed");
  refused({ launch: { ...launch, paths: {} } }, "gemini-home-unknown");
});
