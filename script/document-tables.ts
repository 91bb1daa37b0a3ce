/**
 * Tables that stand between hand-written text in documents, made from the code:
 * `<!-- table: NAME … -->` begins one and `<!-- end of table -->` ends it. They
 * look as the formatter would leave them.
 */
import * as z from "zod/mini";
import { makeContext } from "../src/agent/agent-fixture.ts";
import { claudeAgent } from "../src/agent/claude/claude-agent.ts";
import { codexAgent } from "../src/agent/codex/codex-agent.ts";
import { commandAgent } from "../src/agent/command/command-agent.ts";
import type { Agent } from "../src/agent/contract.ts";
import { geminiAgent } from "../src/agent/gemini/gemini-agent.ts";
import { practiceAgent } from "../src/agent/practice/practice-agent.ts";
import { operations } from "../src/operation/operations.ts";
import type { Reach } from "../src/operation/scope.ts";
import { WAKE_REASONS } from "../src/session/wake.ts";
import { commands } from "../src/surface/cli/commands.ts";
import { EXIT_CODES } from "../src/surface/cli/exit-codes.ts";
import { usageLine } from "../src/surface/cli/help.ts";
import { SETTINGS, TIMEOUT_SETTINGS } from "../src/surface/cli/help-topics.ts";
import { workTables } from "./work-tables.ts";

type OperationName = (typeof operations)[number]["name"];

/** On which sessions a session may call an operation, for a cell of a table. */
export const REACH_CELL = {
  none: "never",
  self: "on itself",
  descendants: "on itself and its descendants",
  below: "on its descendants",
  any: "on any",
} as const satisfies Record<Reach, string>;

/** The verbs of a job in the order in which they are needed, and the command that does the same. */
const JOB = {
  start_session: ["start"],
  list_sessions: ["list"],
  wait_for_session: ["wait"],
  get_session_data: ["data"],
  send_message: ["send"],
  list_approvals: ["approvals"],
  answer_approval: ["approve", "deny"],
  explain_session: ["explain"],
  recover: ["recover"],
  restart_session: ["restart"],
  end_session: ["end"],
} as const satisfies Partial<Record<OperationName, readonly string[]>>;

const TIMES: readonly string[] = ["stall_seconds", "background_seconds", "orphan_grace_seconds"];

const tables: Readonly<Record<string, () => string>> = {
  "verbs of a job": () =>
    table(
      ["tool and operation", "command", "a session may call it", "what it does"],
      Object.entries(JOB).map(([name, lines]) => {
        const { callers, summary } = operationOf(name);
        return [code(name), lines.map(commandLine).join(", "), REACH_CELL[callers.session], summary];
      }),
    ),
  "names of a job": () =>
    table(
      ["MCP tool", "command"],
      Object.entries(JOB).map(([name, lines]) => [code(operationOf(name).name), lines.map(commandLine).join(", ")]),
    ),
  "transcript of each agent": () =>
    table(
      ["agent", "how Reeve watches it", "`wait`", "`observability.reason` while there is no transcript"],
      waysToRun().map(({ agent, mode, reason }) => [agent.name, mode, code(agent.wait), reason]),
    ),
  "transcript of codex": () =>
    table(
      ["mode", "`observability.reason` while it is `pending`"],
      waysToRun()
        .filter(({ agent }) => agent.name === "codex")
        .map(({ mode, reason }) => [mode, reason]),
    ),
  "ends of a wait": () =>
    table(
      ["`reason`", "exit code", "what it means"],
      EXIT_CODES.filter(({ name }) => ["done", ...WAKE_REASONS, "nothing-to-wait-for", "timeout"].includes(name)).map(
        ({ name, code: status, meaning }) => [name === "done" ? "" : code(name), String(status), meaning],
      ),
    ),
  limits: () =>
    table(
      ["what", "default", "most", "where to change it"],
      [
        fieldRow("get_session_data", "tail", "bytes of a reply or screen", "`reeve data --tail`"),
        fieldRow("wait_for_session", "timeout_seconds", "seconds of one wait over MCP or HTTP", "`timeout_seconds`"),
        fieldRow("send_message", "timeout_seconds", "seconds until `send` answers", "`reeve send --timeout`"),
        ...TIMEOUT_SETTINGS.map(({ name, value, meaning }) => [
          meaning,
          value.replaceAll('"', ""),
          "",
          `${code(name)} in [timeouts]`,
        ]),
        ...SETTINGS.filter(({ name }) => TIMES.includes(name)).map(({ name, value, meaning }) => [
          meaning,
          value,
          "",
          `${code(name)} in config.toml`,
        ]),
      ],
    ),
};

/** The text with every table in it made anew. */
export function withTables(text: string): string {
  return text.replace(
    /^<!-- table: (.+?)(?:; made by npm run docs)? -->\n[^]*?^<!-- end of table -->$/gm,
    (_, name: string) => {
      const made = workTables[name];
      const render = made === undefined ? tables[name] : () => table(...made);
      if (render === undefined) throw new Error(`there is no table "${name}"`);
      return `<!-- table: ${name}; made by npm run docs -->\n\n${render()}\n\n<!-- end of table -->`;
    },
  );
}

function operationOf(name: string): (typeof operations)[number] {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

function commandLine(name: string): string {
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  return code(usageLine(command).replace(" [options]", ""));
}

function fieldRow(operation: OperationName, field: string, what: string, where: string): readonly string[] {
  const { properties = {} } = z.toJSONSchema(operationOf(operation).input, { io: "input", unrepresentable: "any" });
  const { default: usual, maximum } = properties[field] as { readonly default?: number; readonly maximum?: number };
  if (usual === undefined || maximum === undefined) throw new Error(`${operation} has no bounds of ${field}`);
  return [what, String(usual), String(maximum), where];
}

interface WayToRun {
  readonly agent: Agent;
  readonly mode: string;
  readonly reason: string;
}

function waysToRun(): readonly WayToRun[] {
  const codex = codexAgent({ bootstrapPath: "/bootstrap", nodePath: "/node" });
  const practice = practiceAgent("/practice", "/node");
  const ways: readonly (readonly [Agent, Readonly<Record<string, string>>])[] = [
    [codex, { mode: "app-server" }],
    [codex, { mode: "hooks" }],
    [claudeAgent, {}],
    [geminiAgent, {}],
    [practice, {}],
    [commandAgent, {}],
  ];
  return ways.map(([agent, settings]) => {
    const context = makeContext({ settings });
    const args = agent === commandAgent ? ["true"] : [];
    const launch = { ...context.launch, args, paths: { HOME: "/home/you" } };
    const { mode, observabilityReason: reason } = agent.plan({ ...context, launch });
    return { agent, mode: mode.name, reason };
  });
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  const [first = [], ...rest] = cells;
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...rest.map(line)].join("\n");
}
