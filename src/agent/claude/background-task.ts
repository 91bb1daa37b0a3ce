/**
 * What works in the background, as hooks tell it (2.1.325). Stop and
 * SubagentStop list it:
 *
 *   "background_tasks": [{"id", "type": "shell" | "subagent" | "monitor" | "workflow" | "MCP task" | …,
 *     "status": "running" | "pending", "description", "command"?, "agent_type"?}]
 *
 * A SubagentStop still lists the subagent that stops. When something ends,
 * the agent is woken by a prompt of its own: one or several
 *
 *   <task-notification> <task-id>…</task-id> … <status>completed</status> … </task-notification>
 *
 * What a person ends by hand (/tasks) wakes nobody.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { BackgroundReading } from "../../session/background.ts";
import type { BackgroundTask } from "../../session/session.ts";
import { type Fields, listIn, textIn } from "../../platform/json-fields.ts";

type Told = Omit<BackgroundTask, "holds">;

/** Null where this version does not tell. */
export function runningIn(record: Fields): readonly Told[] | null {
  return Array.isArray(record["background_tasks"]) ? listIn(record, "background_tasks").flatMap(taskOf) : null;
}

/** These come to an end by themselves; whatever else there is may run for ever. */
const SUBAGENTS: ReadonlySet<string> = new Set(["subagent", "workflow"]);

/** A call of an MCP tool that its server goes on with, such as a wait of Reeve's own. */
const MCP_TASK = "MCP task";

/** The status file says idle while one works. */
export function isMcpTask({ title }: Pick<BackgroundTask, "title">): boolean {
  return title.startsWith(`${MCP_TASK} `);
}

function taskOf(task: Fields): readonly Told[] {
  const id = textIn(task, "id");
  if (id === null) return [];
  const type = textIn(task, "type") ?? "";
  if (type === MCP_TASK)
    return [{ id, kind: "command", title: oneLine(`${MCP_TASK} ${textIn(task, "description") ?? id}`) }];
  const kind = SUBAGENTS.has(type) ? "subagent" : "command";
  const title = textIn(task, "command") ?? textIn(task, "description") ?? textIn(task, "agent_type") ?? id;
  return [{ id, kind, title: oneLine(title) }];
}

export function subagentReading(event: "SubagentStart" | "SubagentStop", record: Fields): BackgroundReading | null {
  const id = textIn(record, "agent_id");
  if (id === null) return null;
  const running = runningIn(record);
  if (event === "SubagentStart")
    return { started: { id, kind: "subagent", title: oneLine(textIn(record, "agent_type") ?? "subagent") } };
  return running === null ? { ended: [id] } : { running: running.filter((task) => task.id !== id) };
}

/** The prompt by which the agent wakes itself. */
export function isNotification(prompt: string): boolean {
  return prompt.startsWith("<task-notification>");
}

export function endedIn(prompt: string): readonly string[] {
  return isNotification(prompt)
    ? [...prompt.matchAll(/<task-id>([^<]{1,200})<\/task-id>/g)].flatMap(([, id]) => (id === undefined ? [] : [id]))
    : [];
}

const LONGEST_TITLE = 120;

function oneLine(text: string): string {
  const line = stripTerminal(text).replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}
