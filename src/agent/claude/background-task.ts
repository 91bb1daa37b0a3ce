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
 *
 * A call of an MCP tool that its server goes on with is told by PostToolUse:
 *
 *   "tool_response": [{"type": "text", "text": "MCP tool \"reeve/wait_for_session\" started server-side task … It was
 *     moved to the background as task k4ot735vr and keeps running on the server; …"}]
 *
 * One that is over before the agent has answered is not listed by Stop, and the
 * agent is woken for it a moment after that.
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

/** A call that has just been moved to the background. */
export function movedIn(record: Fields): BackgroundReading | null {
  const text = listIn(record, "tool_response")
    .map((part) => textIn(part, "text") ?? "")
    .join("");
  const [, tool, id] = MOVED.exec(text) ?? [];
  return tool === undefined || id === undefined ? null : { started: { id, kind: "command", title: mcpTitle(tool) } };
}

const MOVED =
  /^MCP tool "([^"]{1,200})" started server-side task \S{1,2000} It was moved to the background as task ([\w-]{1,200})\b/;

/** What Stop lists, and the calls of this turn that are over although the agent has not been told: it will be woken for them. */
export function holdingAt(listed: readonly Told[], known: readonly BackgroundTask[]): readonly Told[] {
  const untold = known.filter((task) => task.holds && isMcpTask(task) && !listed.some(({ id }) => id === task.id));
  return [...listed, ...untold.map(({ id, kind, title }) => ({ id, kind, title }))];
}

/** The agent hears of these in a line of its transcript: it was told in the middle of a turn, or has stopped them itself. */
export function toldIn(line: string, known: readonly BackgroundTask[]): readonly string[] {
  return known.filter((task) => isMcpTask(task) && line.includes(task.id)).map(({ id }) => id);
}

function taskOf(task: Fields): readonly Told[] {
  const id = textIn(task, "id");
  if (id === null) return [];
  const type = textIn(task, "type") ?? "";
  if (type === MCP_TASK) return [{ id, kind: "command", title: mcpTitle(textIn(task, "description") ?? id) }];
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
export const NOTIFICATION = "<task-notification>";

export function isNotification(prompt: string): boolean {
  return prompt.startsWith(NOTIFICATION);
}

export function endedIn(prompt: string): readonly string[] {
  return isNotification(prompt)
    ? [...prompt.matchAll(/<task-id>([^<]{1,200})<\/task-id>/g)].flatMap(([, id]) => (id === undefined ? [] : [id]))
    : [];
}

function mcpTitle(description: string): string {
  return oneLine(`${MCP_TASK} ${description}`);
}

const LONGEST_TITLE = 120;

function oneLine(text: string): string {
  const line = stripTerminal(text).replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}
