// Reads a request of the Anthropic Messages API as Claude Code 2.1.325 sends it.

import type { Asked, BackgroundTools, Message, ShellTool } from "./conversation.ts";
import { allTyped, BadRequest, lastTyped } from "./conversation.ts";
import type { RequestLine } from "./dialect.ts";
import type { JsonObject } from "./json.ts";
import { isObject, listAt, objectAt, textAt, textsOf } from "./json.ts";

export function readMessagesRequest(body: JsonObject, request: RequestLine): Asked {
  const input = listAt(body, "messages");
  if (input.length === 0) throw new BadRequest("messages: Field required");
  const prompts = input.map((item) => (textAt(item, "role") === "user" ? lastTyped(textsOf(contentOf(item))) : ""));
  const promptAt = prompts.findLastIndex((prompt) => prompt !== "");
  const session = request.headers["x-claude-code-session-id"];
  const system = textsOf(body["system"]).join("\n");
  const prompt = prompts[promptAt] ?? "";
  const schema = objectAt(objectAt(body, "output_config"), "format")["schema"];
  return {
    model: textAt(body, "model"),
    stream: body["stream"] === true,
    hidden: request.verb === "count_tokens" || isHidden(body, prompt, system, schema),
    session: typeof session === "string" ? session : "",
    prompt,
    messages: [...(system === "" ? [] : [{ role: "system" as const, text: system }]), ...input.flatMap(toMessages)],
    typed: input.flatMap((item) => (textAt(item, "role") === "user" ? allTyped(textsOf(contentOf(item))) : [])),
    ...outcomeOf(input.slice(promptAt + 1)),
    running: undefined,
    shell: shellTool(listAt(body, "tools")),
    offered: listAt(body, "tools").map((tool) => textAt(tool, "name")),
    background: backgroundTools(listAt(body, "tools")),
    schema,
  };
}

/**
 * Requests that Claude Code makes for itself while offering its tools, known by how they begin: the summary for
 * /compact, the suggestion of a next prompt, the recap after an absence, the extraction of memories.
 */
const ownRequests = [
  /^CRITICAL: Respond with TEXT ONLY/,
  /^\[SUGGESTION MODE:/,
  /^The user stepped away and is coming back/,
  /^You are now acting as the memory extraction subagent/,
  /^# Dream: Memory Consolidation/,
];

/** Without tools: the title of a session and other side questions. One token: a probe of the key and its quota. */
function isHidden(body: JsonObject, prompt: string, system: string, schema: unknown): boolean {
  if (schema !== undefined || body["max_tokens"] === 1) return true;
  if (system !== "" && listAt(body, "tools").length === 0) return true;
  return ownRequests.some((pattern) => pattern.test(prompt));
}

function contentOf(item: unknown): unknown {
  return isObject(item) ? item["content"] : undefined;
}

function resultsOf(item: unknown): readonly string[] {
  return listAt(item, "content")
    .filter((part) => textAt(part, "type") === "tool_result")
    .map((part) => textsOf(contentOf(part)).join("\n"));
}

/**
 * Claude Code 2.1.325 puts a tool that answers with a task into the background, says so instead of a result, and goes
 * on with a notification that holds the result.
 */
function outcomeOf(turn: readonly unknown[]): Pick<Asked, "results" | "isTold"> {
  const notes = turn.flatMap((item) => textsOf(contentOf(item))).join("\n");
  const told = new Map(
    [...notes.matchAll(NOTIFICATION)].map(([, id = "", result = ""]) => [id, result.trim()] as const),
  );
  const results = turn.flatMap(resultsOf);
  const tasks = results.map((result) => TASK.exec(result)?.[1]);
  return {
    results: results.map((result, at) => told.get(tasks[at] ?? "") ?? result),
    isTold: tasks.some((task) => task !== undefined && !told.has(task)),
  };
}

const TASK = /started server-side task .* moved to the background as task (\w+)/;
const NOTIFICATION = /<task-id>(\w+)<\/task-id>[\s\S]*?<result>([\s\S]*?)<\/result>/g;

function toMessages(item: unknown): readonly Message[] {
  const results = resultsOf(item).map((text) => ({ role: "tool" as const, text }));
  const text = textsOf(contentOf(item)).join("\n");
  const role = textAt(item, "role");
  if (text === "" || (role !== "user" && role !== "assistant" && role !== "system")) return results;
  return [...results, { role, text }];
}

function shellTool(tools: readonly unknown[]): ShellTool | undefined {
  if (!tools.some((tool) => textAt(tool, "name") === "Bash")) return undefined;
  return { name: "Bash", input: (command) => ({ command, description: "Scripted command", timeout: 600_000 }) };
}

/** As Claude Code 2.1.325 has them: an Agent runs in the background by itself. */
function backgroundTools(tools: readonly unknown[]): BackgroundTools {
  const offers = (name: string): boolean => tools.some((tool) => textAt(tool, "name") === name);
  const shell = (command: string) => ({ command, description: "Scripted background command", run_in_background: true });
  const agent = (prompt: string) => ({ description: "Scripted subagent", prompt, subagent_type: "general-purpose" });
  const agentName = ["Agent", "Task"].find(offers);
  return {
    ...(offers("Bash") ? { shell: { name: "Bash", input: shell } } : {}),
    ...(agentName === undefined ? {} : { agent: { name: agentName, input: agent } }),
  };
}
