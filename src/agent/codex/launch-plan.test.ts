import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { LaunchContext } from "../contract.ts";
import { hookScript } from "../hook-script.ts";
import { hookFlags } from "./hook-flags.ts";
import { planLaunch } from "./launch-plan.ts";
import { NO_MODEL_NUDGE } from "./unattended-flags.ts";
import { plainLaunch } from "../../session/plain-launch.ts";

const THREAD = "01a1e177-7b81-7043-813a-79e65bffb962";
const PARTS = { bootstrapPath: "/reeve/bootstrap.js", nodePath: "/usr/bin/node" };
const HOOKS = [...hookFlags("/session/hook.sh"), ...NO_MODEL_NUDGE];

function context(given: Partial<LaunchContext> = {}, args: readonly string[] = []): LaunchContext {
  return {
    sessionId: "s-1",
    launch: plainLaunch("/work", { args, paths: { HOME: "/home/user" } }),
    resume: null,
    prompt: null,
    sessionDir: "/session",
    spoolDir: "/session/spool",
    socketDir: "/run/s",
    program: { path: "/bin/codex", version: "0.166.0" },
    settings: {},
    mcp: null,
    capture: null,
    read: () => null,
    ...given,
  };
}

describe("app-server mode", () => {
  test("the pane runs a script, the bootstrap is told what to open", () => {
    const plan = planLaunch(context({ prompt: "it's me" }, ["--add-dir", "/more"]), PARTS);
    expect(plan).toEqual({
      argv: ["/bin/sh", "/session/codex-pane.sh"],
      environment: {},
      files: [
        { path: "/session/codex-bootstrap.json", content: expect.any(String), isExecutable: false },
        { path: "/session/codex-pane.sh", content: expect.any(String), isExecutable: true },
      ],
      nativeId: null,
      transcriptPath: null,
      observabilityReason: expect.stringContaining("rollout"),
      mode: { name: "app-server", text: expect.any(String) },
      channel: { socket: expect.stringMatching(/^\/run\/s\/[0-9a-f]{12}\.sock$/) },
      statusDir: null,
      isPromptLeftOut: false,
    });
    expect(JSON.parse(plan.files[0]?.content ?? "")).toEqual({
      socket: plan.channel?.socket,
      cwd: "/work",
      model: null,
      extraRoots: ["/more"],
      resume: null,
      prompt: "it's me",
      tools: null,
      spoolDir: "/session/spool",
      recordPath: "/session/codex-thread.json",
    });
  });

  test("the script is one that a shell understands, whatever the prompt", () => {
    const plan = planLaunch(context({ prompt: "it's `$(rm -rf /)`\n'\\''" }, ["-c", "x='y'", "-i", "a b.png"]), PARTS);
    const script = plan.files[1]?.content ?? "";
    expect(spawnSync("sh", ["-n"], { input: script, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  test("what is known of a conversation that is continued is in the plan", () => {
    const plan = planLaunch(context({ resume: { nativeId: THREAD, transcriptPath: "/r.jsonl" } }), PARTS);
    expect(plan).toMatchObject({ nativeId: THREAD, transcriptPath: "/r.jsonl", mode: { name: "app-server" } });
  });
});

describe("hooks mode", () => {
  test("one process with hooks of its own, trusted for it alone", () => {
    const plan = planLaunch(context({ prompt: "-p", settings: { mode: "hooks" } }, ["-p", "work"]), PARTS);
    expect(plan).toEqual({
      argv: ["/bin/codex", "--no-daemon", ...HOOKS, "-p", "work", "--", "-p"],
      environment: {},
      files: [hookScript("/session")],
      nativeId: null,
      transcriptPath: null,
      observabilityReason: expect.stringContaining("It is normal"),
      mode: { name: "hooks", text: expect.stringContaining("the settings ask for it") },
      channel: null,
      statusDir: null,
      isPromptLeftOut: false,
    });
  });

  test("a conversation is continued by its id", () => {
    const resume = { nativeId: THREAD, transcriptPath: null };
    const plan = planLaunch(context({ resume, prompt: "go on", settings: { mode: "hooks" } }), PARTS);
    expect(plan.argv).toEqual(["/bin/codex", "resume", "--no-daemon", ...HOOKS, "--", THREAD, "go on"]);
  });

  test.each([
    ["0.145.0", ["/bin/codex", ...HOOKS]],
    ["0.124.0", ["/bin/codex", "-c", 'notify=["/session/notify.sh","say","a b"]', ...NO_MODEL_NUDGE]],
  ])("version %s gets what it has", (version, argv) => {
    const read = (path: string): string | null =>
      path === "/home/user/.codex/config.toml" ? 'notify = ["say", "a b"]\n' : null;
    const plan = planLaunch(
      context({ program: { path: "/bin/codex", version }, settings: { mode: "hooks" }, read }),
      PARTS,
    );
    expect(plan.argv).toEqual(argv);
  });
});

describe("the choice", () => {
  test.each([
    ["0.166.0", {}, [], "app-server"],
    ["0.135.0", {}, [], "app-server"],
    ["0.134.0", {}, [], "hooks"],
    ["0.134.0", { mode: "app-server" }, [], "app-server"],
    [null, {}, [], "app-server"],
    ["0.166.0", {}, ["--profile", "x"], "hooks"],
    ["0.166.0", { mode: "hooks" }, [], "hooks"],
  ])("version %s, settings %j, arguments %j: %s", (version, settings, args, mode) => {
    const plan = planLaunch(context({ program: { path: "/bin/codex", version }, settings }, args), PARTS);
    expect(plan.mode.name).toBe(mode);
  });

  test("a prompt that no argument can hold is left out", () => {
    const plan = planLaunch(context({ prompt: "é".repeat(70_000) }), PARTS);
    expect(plan.isPromptLeftOut).toBe(true);
    expect(plan.files[1]?.content).not.toContain("é");
  });

  test.each([
    [{ settings: { mode: "magic" } }, []],
    [{ settings: { mode: "app-server" } }, ["--profile", "x"]],
    [{ resume: { nativeId: "my-thread", transcriptPath: null } }, []],
  ])("%j with %j is refused", (given, args) => {
    expect(() => planLaunch(context(given, args), PARTS)).toThrow(ReeveError);
  });
});
