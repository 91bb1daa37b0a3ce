/**
 * Which folder may import which: the table of ARCHITECTURE.md as checked data.
 * A folder may import itself and what is listed; nothing else in src/.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importsOf, roomOf } from "./source-imports.ts";
import { forbiddenImports, isProgram, isSealed } from "./sealed.ts";

const root = join(import.meta.dirname, "..", "src");

const BELOW_SUPERVISOR = ["platform", "session", "fleet", "store", "runtime", "agent", "capture"];
/** Its rooms, from the ground up. */
const SUPERVISOR = [
  "supervisor/ledger",
  "supervisor/launch",
  "supervisor/attention",
  "supervisor/capture",
  "supervisor/effect",
  "supervisor/fleet",
  "supervisor/notify",
  "supervisor/worktree",
  "supervisor/retention",
  "supervisor/persistence",
  "supervisor/index",
  "supervisor/story",
  "supervisor/diagnosis",
  "supervisor/memory",
  "supervisor/recovery",
];

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  session: ["platform"],
  fleet: ["platform", "session"],
  store: ["platform", "session"],
  runtime: ["platform", "session"],
  agent: ["platform", "session"],
  capture: ["platform", "session"],
  search: ["platform", "session"],
  memory: ["platform", "session", "search"],
  "supervisor/ledger": ["platform", "session", "fleet", "store", "runtime"],
  "supervisor/launch": ["platform", "session", "fleet", "store", "runtime", "agent", "supervisor/ledger"],
  "supervisor/attention": [...BELOW_SUPERVISOR, "supervisor/ledger", "supervisor/launch"],
  "supervisor/capture": [...BELOW_SUPERVISOR, "supervisor/ledger", "supervisor/launch"],
  "supervisor/effect": [...BELOW_SUPERVISOR, "supervisor/ledger", "supervisor/launch", "supervisor/attention"],
  "supervisor/fleet": ["platform", "session", "fleet", "store", "supervisor/ledger"],
  "supervisor/notify": ["platform", "session", "fleet", "store", "runtime", "supervisor/ledger"],
  "supervisor/worktree": ["platform", "session", "fleet", "store", "runtime", "supervisor/ledger", "supervisor/launch"],
  "supervisor/retention": ["platform", "session", "fleet", "store", "supervisor/ledger"],
  "supervisor/persistence": [
    "platform",
    "session",
    "store",
    "runtime",
    "agent",
    "capture",
    "supervisor/ledger",
    "supervisor/launch",
  ],
  "supervisor/index": [...BELOW_SUPERVISOR, "search", "supervisor/ledger", "supervisor/launch", "supervisor/attention"],
  "supervisor/story": BELOW_SUPERVISOR,
  "supervisor/diagnosis": [...BELOW_SUPERVISOR, "supervisor/ledger", "supervisor/launch"],
  "supervisor/memory": ["platform", "session", "capture", "memory", "supervisor/ledger"],
  "supervisor/recovery": [...BELOW_SUPERVISOR, "supervisor/launch"],
  supervisor: [...BELOW_SUPERVISOR, "search", "memory", ...SUPERVISOR],
  operation: [...BELOW_SUPERVISOR, "search", "memory", "supervisor", ...SUPERVISOR],
  client: ["platform", "session", "operation (types)"],
  "surface/http": ["platform", "session", "store", "operation", "surface/mcp"],
  "surface/mcp": ["platform", "session", "client", "operation (types)"],
  // It loads the board, which uses the CLI's texts, and the MCP server.
  "surface/cli": ["platform", "session", "client", "surface/board", "surface/mcp", "operation (types)"],
  "surface/board": ["platform", "session", "client", "surface/cli", "operation (types)"],
  "daemon-main.ts": ["platform", "daemon.ts"],
  "capture-proxy-main.ts": ["platform", "agent", "capture"],
  "probe-program.ts": ["platform"],
  "daemon.ts": [
    "platform",
    "fleet",
    "store",
    "search",
    "memory",
    "runtime",
    "agent",
    "supervisor",
    ...SUPERVISOR,
    "operation",
    "surface/http",
  ],
};

/** Concrete runtimes and agents: only what puts a process together may know that they exist. */
const CONCRETE = /^(?:runtime|agent)\/[^/]+\//;

/** What runtimes share, and who may use it; otherwise no adapter imports another. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  "runtime/boxed": ["runtime/driver"],
  "runtime/docker": ["runtime/driver", "runtime/boxed"],
  "runtime/tmux": ["runtime/driver"],
};

const problems: string[] = [];
for (const file of globSync("**/*.ts", { cwd: root })) {
  // A test sees all rooms of its house.
  const isTest = file.endsWith(".test.ts");
  const from = isTest ? houseOf(file) : roomOf(file);
  for (const { target, isType } of importsOf(root, file)) {
    const to = roomOf(target);
    if (to === from) {
      if (CONCRETE.test(target) && CONCRETE.test(file) && !mayShare(adapterOf(file), adapterOf(target)))
        problems.push(`${file}: one adapter imports another (${target})`);
      continue;
    }
    const allowed = MAY_IMPORT[from] ?? [];
    if (!allowed.includes(to) && !((isType || isTest) && allowed.includes(`${to} (types)`)))
      problems.push(`${file}: ${from} must not import ${to} (${target})`);
    if (CONCRETE.test(target) && from !== "daemon.ts" && from !== "capture-proxy-main.ts")
      problems.push(`${file}: only daemon.ts imports a concrete runtime or agent (${target})`);
  }
}
for (const file of globSync("**/*.ts", { cwd: root })) {
  if (!isSealed(file)) continue;
  for (const target of forbiddenImports(readFileSync(join(root, file), "utf8")))
    problems.push(`${file}: what lies inside a session is the business of its runtime, not of ${target}`);
  for (const { target, isType } of importsOf(root, file))
    if (!isType && isProgram(target))
      problems.push(`${file}: ${target} is part of a program that runs inside a session`);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

function adapterOf(path: string): string {
  return dirname(path).split("/").slice(0, 2).join("/");
}

function mayShare(from: string, to: string): boolean {
  return from === to || SHARED[from]?.includes(to) === true;
}

function houseOf(path: string): string {
  return path.startsWith("supervisor/") ? "supervisor" : roomOf(path);
}
