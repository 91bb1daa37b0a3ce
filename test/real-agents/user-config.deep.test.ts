/**
 * The user's own configuration: their hooks and their memory files work in a
 * session as they do without Reeve, and no file of it is touched, except by the
 * agent itself. What that rewrites or adds was seen in runs without Reeve
 * (claude 2.1.325, gemini 0.61.0, codex 0.166.0) and is listed here.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { AgentCase } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow } from "./session-steps.ts";

interface Configured {
  readonly agentCase: AgentCase;
  /** Adds the user's hooks; returns the events of which each must be told once, and those of which more may come. */
  readonly addHooks: (home: string) => { readonly once: readonly string[]; readonly often: readonly string[] };
  readonly memory: string;
  /** A file that the agent itself writes anew; what the user had in it must still be there. */
  readonly rewritten: { readonly path: string; readonly read: (text: string) => unknown } | null;
  /** What the agent itself adds to its home: conversations, logs, caches. */
  readonly added: RegExp;
}

const CODEX = {
  addHooks: addCodexHooks,
  memory: ".codex/AGENTS.md",
  // [tui] screen_reader_detection_done
  rewritten: { path: ".codex/config.toml", read: parse },
  added:
    /^\.codex\/(?:\w+\.sqlite(?:-shm|-wal)?|history\.jsonl|session_index\.jsonl(?:\.lock)?|installation_id|\.sandbox_migration|(?:sessions|shell_snapshots|thread-writer-locks|skills\/\.system|app-server-control|log|tmp)\/.+)$/,
} as const;

const agents: readonly Configured[] = [
  {
    agentCase: CASES.claude,
    addHooks: (home) => addJsonHooks(home, ".claude/settings.json", ["UserPromptSubmit", "Stop"]),
    memory: ".claude/CLAUDE.md",
    // Counters, and what the last session cost.
    rewritten: { path: ".claude.json", read: JSON.parse },
    // Then its log of each MCP server that it connects to, and its own handler of links, the last one where xdg-utils is
    // installed.
    added:
      /^(?:\.cache\/claude-cli-nodejs\/[^/]+\/mcp-logs-reeve\/.+\.jsonl|\.claude\/(?:history\.jsonl|(?:backups|projects|sessions|shell-snapshots|todos)\/.+)|\.local\/share\/applications\/claude-code-url-handler\.desktop|\.config\/mimeapps\.list)$/,
  },
  {
    agentCase: CASES.gemini,
    addHooks: (home) => addJsonHooks(home, ".gemini/settings.json", ["BeforeAgent", "AfterAgent"]),
    memory: ".gemini/GEMINI.md",
    rewritten: null,
    added: /^\.gemini\/(?:projects\.json|state\.json|(?:history|tmp)\/.+)$/,
  },
  { agentCase: CASES.codexAppServer, ...CODEX },
  { agentCase: CASES.codexHooks, ...CODEX },
];

/** The compile cache of `reeve` itself, which is run with the user's HOME. */
const REEVE_CACHE = /^\.cache\/reeve\//;

describe.each(agents)("$agentCase.title", { timeout: 90_000 }, ({ agentCase, addHooks, memory, rewritten, added }) => {
  const rig = rigOf(agentCase);

  test("hooks and memory of the user's own work, and their files stay as they are", async () => {
    const home = rig().user.dir;
    const { once, often } = addHooks(home);
    writeFileSync(join(home, memory), "The user's bird is a bittern.\n");
    const before = filesOf(home);
    const rewrittenBefore = rewritten === null ? {} : rewritten.read(readFileSync(join(home, rewritten.path), "utf8"));

    const { session_id: id } = await rig().start("[[say hello]]");
    expect(await rig().wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
    const told = JSON.stringify(rig().asked()[0]?.messages);
    expect(told).toContain("The user's bird is a bittern.");
    await eventually("their hooks ran", () => [...once, ...often].every((event) => runsOf(home, event) > 0));
    await endNow(rig(), id);

    expect(Object.fromEntries(once.map((event) => [event, runsOf(home, event)]))).toEqual(
      Object.fromEntries(once.map((event) => [event, 1])),
    );
    const after = filesOf(home);
    const changed = [...before].filter(([path, file]) => after.get(path) !== file).map(([path]) => path);
    expect(changed.filter((path) => path !== rewritten?.path)).toEqual([]);
    if (rewritten !== null)
      expect(rewritten.read(readFileSync(join(home, rewritten.path), "utf8"))).toMatchObject(rewrittenBefore as object);
    const strange = [...after.keys()].filter(
      (path) => !before.has(path) && !added.test(path) && !REEVE_CACHE.test(path),
    );
    expect(strange).toEqual([]);
  });
});

/** Claude Code and Gemini CLI have the same form of hooks. */
function addJsonHooks(home: string, name: string, events: readonly string[]): ReturnType<Configured["addHooks"]> {
  const path = join(home, name);
  const settings = JSON.parse(readFileSync(path, "utf8")) as object;
  const hooks = events.map(
    (event) => [event, [{ hooks: [{ type: "command", command: noteRun(home, event) }] }]] as const,
  );
  writeFileSync(path, `${JSON.stringify({ ...settings, hooks: Object.fromEntries(hooks) }, null, 2)}\n`);
  return { once: events, often: [] };
}

/** `notify`, and a hook that they have reviewed: Codex remembers that by a checksum. */
function addCodexHooks(home: string): ReturnType<Configured["addHooks"]> {
  const path = join(home, ".codex/config.toml");
  const script = join(home, "notify.sh");
  writeFileSync(script, `#!/bin/sh\n${noteRun(home, "notify")}\n`, { mode: 0o755 });
  const command = noteRun(home, "Stop");
  const normalised = { event_name: "stop", hooks: [{ async: false, command, timeout: 3, type: "command" }] };
  const hash = createHash("sha256").update(JSON.stringify(normalised)).digest("hex");
  const lines = [
    `notify = [${JSON.stringify(script)}]`,
    readFileSync(path, "utf8"),
    "[hooks]",
    `Stop = [{hooks=[{type="command",command=${JSON.stringify(command)},timeout=3}]}]`,
    "[hooks.state]",
    `${JSON.stringify(`${path}:stop:0:0`)} = {trusted_hash="sha256:${hash}"}`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  // It also tells of the thread that makes the title.
  return { once: ["Stop"], often: ["notify"] };
}

function noteRun(home: string, event: string): string {
  return `echo ran >> ${home}-${event}`;
}

function runsOf(home: string, event: string): number {
  try {
    return readFileSync(`${home}-${event}`, "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

/** Mode and checksum of each, by its path. */
function filesOf(dir: string): ReadonlyMap<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const checksum = createHash("sha256").update(readFileSync(path)).digest("hex");
      return [relative(dir, path), `${statSync(path).mode} ${checksum}`];
    }),
  );
}
