import { describe, expect, it } from "vitest";
import { claudeForeign } from "./claude/foreign.ts";
import { codexForeign } from "./codex/foreign.ts";
import type { ForeignProcess } from "./foreign.ts";
import { processesOnly, runsProgram } from "./foreign.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const process = (fields: Partial<ForeignProcess> = {}): ForeignProcess => ({
  pid: 4711,
  startTicks: "99",
  argv: ["claude"],
  cwd: "/work",
  openFiles: [],
  ...fields,
});

describe("runsProgram", () => {
  it.each([
    [["claude"], true],
    [["/usr/local/bin/claude", "--resume"], true],
    [["node", "/opt/bin/claude"], true],
    [["/usr/bin/node", "/opt/lib/claude.js", "-p"], true],
    [["node", "server.js", "claude"], false],
    [["vim", "claude"], false],
    [["claude-squad"], false],
    [[], false],
  ])("%j: %s", (argv, isIt) => {
    expect(runsProgram(argv, "claude")).toBe(isIt);
  });
});

describe("Claude Code outside Reeve", () => {
  const status = {
    pid: 4711,
    procStart: "99",
    sessionId: ID,
    cwd: "/project",
    status: "waiting",
    waitingFor: "input needed",
  };
  const registry = (fields: object = {}) => ({
    path: "/home/me/.claude/sessions/4711.json",
    content: JSON.stringify({ ...status, ...fields }),
  });
  const job = (fields: object) => ({
    path: "/home/me/.claude/jobs/ab12cd34/state.json",
    content: JSON.stringify({ sessionId: ID, cwd: "/project", ...fields }),
  });

  it("looks in its own directory", () => {
    expect(claudeForeign.places({ HOME: "/home/me" }).map(({ directory }) => directory)).toEqual([
      "/home/me/.claude/sessions",
      "/home/me/.claude/jobs",
    ]);
    expect(claudeForeign.places({ CLAUDE_CONFIG_DIR: "/c", HOME: "/h" })[0]?.directory).toBe("/c/sessions");
    expect(claudeForeign.places({})).toEqual([]);
  });

  it("knows what a process does by its registry file", () => {
    expect(claudeForeign.read({ processes: [process()], files: [registry()] })).toEqual([
      {
        process: { pid: 4711, startTicks: "99" },
        heldBy: "process",
        nativeId: ID,
        cwd: "/project",
        activity: "awaiting-input",
        asks: "input needed",
        detail: "process 4711, status file",
      },
    ]);
  });

  it("does not take the file of an earlier process with that pid for its own, and lists no dead one", () => {
    const [found] = claudeForeign.read({ processes: [process()], files: [registry({ procStart: "98" })] });
    expect(found).toMatchObject({ nativeId: null, activity: "unknown", cwd: "/work" });
    expect(claudeForeign.read({ processes: [], files: [registry()] })).toEqual([]);
  });

  it("lists the jobs of its daemon, and no job that is over", () => {
    const blocked = job({ state: "blocked", needs: "Which\u001B[2J branch?" });
    expect(claudeForeign.read({ processes: [], files: [blocked] })).toEqual([
      {
        process: null,
        heldBy: "daemon",
        nativeId: ID,
        cwd: "/project",
        activity: "awaiting-input",
        asks: "Which branch?",
        detail: "job ab12cd34 of Claude Code's own daemon",
      },
    ]);
    for (const state of ["done", "stopped", "failed"])
      expect(claudeForeign.read({ processes: [], files: [job({ state })] })).toEqual([]);
    expect(claudeForeign.read({ processes: [], files: [{ path: "/x/state.json", content: "{" }] })).toEqual([]);
  });

  it("lists a worker of the daemon once, as what the daemon holds", () => {
    const files = [registry({ status: "busy" }), job({ state: "working" })];
    expect(claudeForeign.read({ processes: [process()], files })).toMatchObject([
      { heldBy: "daemon", process: { pid: 4711 }, activity: "working" },
    ]);
  });
});

describe("Codex outside Reeve", () => {
  const rollout = `/home/me/.codex/sessions/2026/11/15/rollout-2026-11-15T23-07-46-${ID}.jsonl`;
  const other = "22222222-2222-4222-8222-222222222222";

  it("knows the thread by the files that are open", () => {
    const files = [rollout, `/home/me/.codex/thread-writer-locks/${ID}.lock`, "/dev/null"];
    expect(codexForeign.read({ processes: [process({ argv: ["codex"], openFiles: files })], files: [] })).toMatchObject(
      [{ heldBy: "process", nativeId: ID }],
    );
    expect(codexForeign.read({ processes: [process({ argv: ["codex"] })], files: [] })).toMatchObject([
      { heldBy: "process", nativeId: null },
    ]);
  });

  it("lists every thread of an app-server that is not ours", () => {
    const openFiles = [rollout, `/home/me/.codex/thread-writer-locks/${other}.lock`];
    const server = process({ argv: ["codex", "app-server", "--listen", "unix://x"], openFiles });
    expect(codexForeign.read({ processes: [server], files: [] })).toMatchObject([
      { heldBy: "daemon", nativeId: ID },
      { heldBy: "daemon", nativeId: other },
    ]);
  });
});

it("of an agent that tells nothing, the process is listed", () => {
  expect(processesOnly.read({ processes: [process({ argv: ["gemini"] })], files: [] })).toMatchObject([
    { nativeId: null, cwd: "/work", activity: "unknown" },
  ]);
});
