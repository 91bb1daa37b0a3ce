/**
 * A real agent that orchestrates: it runs in a session of Reeve, and the
 * scripted model has it call the tools of Reeve's MCP server. What it called
 * and what it was answered is kept, to be shown where an expectation fails; set
 * REEVE_TEST_EVIDENCE to a directory to keep it always.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { AgentCase, Rig } from "./rig.ts";
import { screenOf } from "./session-steps.ts";

/** As each agent names a tool of an MCP server to its model. */
export function toolName(agent: AgentCase["agent"], tool: string, server = "reeve"): string {
  return agent === "gemini" ? `mcp_${server}_${tool}` : `mcp__${server}__${tool}`;
}

/** An MCP server of the user's own, called `mine`, in their own configuration: theirs and Reeve's are there side by side. */
export function addOwnServer(agent: AgentCase["agent"], home: string): void {
  const command = join(import.meta.dirname, "..", "..", "bin", "reeve");
  const path = join(
    home,
    { codex: ".codex/config.toml", claude: ".claude.json", gemini: ".gemini/settings.json" }[agent],
  );
  const before = readFileSync(path, "utf8");
  if (agent === "codex") {
    writeFileSync(path, `${before}\n[mcp_servers.mine]\ncommand = ${JSON.stringify(command)}\nargs = ["mcp"]\n`);
    return;
  }
  const servers = { mine: { command, args: ["mcp"] } };
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(before) as object), mcpServers: servers }));
}

/** A directive that calls one of Reeve's tools. */
export function call(agent: AgentCase["agent"], tool: string, input: object): string {
  return `[[tool ${toolName(agent, tool)} ${JSON.stringify(input)}]]`;
}

/** Claude Code offers its model the tools of an MCP server only when it looks for them; it waits for the server then. */
export function lookFor(agent: AgentCase["agent"], names: readonly string[]): string {
  if (agent !== "claude") return "";
  return `[[tool ToolSearch ${JSON.stringify({ query: `select:${names.join(",")}`, max_results: names.length })}]]`;
}

export interface Performed {
  /** How its turn ended. */
  readonly reason: string;
  /** Which of Reeve's tools it asked the person about, in order. */
  readonly askedFor: readonly string[];
}

/**
 * Lets its turn go on to its end; the person says yes to whatever it asks. In Claude Code a wait is a task in the
 * background: the turn is not over before that is.
 */
export async function perform(rig: Rig, id: string, cursor: string): Promise<Performed> {
  const askedFor: string[] = [];
  for (let since = cursor; ;) {
    const waited = await rig.wait(id, "--since", since);
    if (waited.reason !== "awaiting-approval") return { reason: waited.reason, askedFor };
    askedFor.push(/[a-z]+_[a-z_]*session\b/.exec(asksIn(waited.session.asks))?.[0] ?? "?");
    await rig.home.json("approve", id);
    since = String(waited.cursor);
  }
}

function asksIn(asks: string | null): string {
  return (asks ?? "").replace("mcp__reeve__", "");
}

/** What the orchestrator's tools answered in the turn with this prompt, in order, as far as it is JSON. */
export function answersOf(rig: Rig, prompt: string): readonly Readonly<Record<string, unknown>>[] {
  return (requestsOf(rig, prompt).at(-1)?.results ?? []).flatMap(jsonIn);
}

export function requestsOf(rig: Rig, prompt: string): readonly RecordedRequest[] {
  return rig.asked().filter((request) => request.prompt === prompt.trim());
}

/** Codex and Gemini CLI put words around it. */
function jsonIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as Record<string, unknown>];
  } catch {
    return [];
  }
}

/** Its calls and their answers, and its screen. */
export async function evidenceOf(rig: Rig, id: string, name: string): Promise<string> {
  const lines = rig
    .asked()
    .flatMap(({ messages, calls, says, offered, results }) => [
      ...messages.slice(-1).map(({ role, text }) => `${role}: ${text.slice(0, 2_000)}`),
      ...results.slice(-1).map((text) => `newest result: ${text.slice(0, 2_000)}`),
      `model (${offered.filter((tool) => tool.includes("reeve")).length} tools of reeve): ${says}`,
      ...calls.map((made) => `calls ${made.name} ${JSON.stringify(made.input)}`),
    ]);
  const text = `${lines.join("\n")}\n\n--- its screen ---\n${await screenOf(rig, id)}\n`;
  const keep = process.env["REEVE_TEST_EVIDENCE"];
  if (keep !== undefined) {
    mkdirSync(keep, { recursive: true });
    writeFileSync(join(keep, `${name}.txt`), text);
  }
  return text;
}

/** Who asked for what, of one session: `session-planned session:<id>`. */
export async function callersOf(rig: Rig, worker: string): Promise<readonly string[]> {
  const events = await rig.events(worker);
  return events.filter(({ caller }) => caller !== null).map(({ type, caller }) => `${type} ${caller}`);
}

export function expectDone(performed: Performed, askedFor: readonly string[], evidence: string): void {
  expect(performed, evidence).toEqual({ reason: "turn-completed", askedFor });
}
