// Reads a request of the OpenAI Responses API as codex 0.166.0 sends it.

import type { Asked, Message, ShellTool, ToolCall } from "./conversation.ts";
import { allTyped, BadRequest, lastTyped } from "./conversation.ts";
import type { RequestLine } from "./dialect.ts";
import { newId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import { isObject, listAt, objectAt, parseJson, textAt, textsOf } from "./json.ts";

export function readResponsesRequest(body: JsonObject, request: RequestLine): Asked {
  const input = typeof body["input"] === "string" ? [{ role: "user", content: body["input"] }] : listAt(body, "input");
  if (input.length === 0) throw new BadRequest("input is missing");
  const prompts = input.map((item) => (textAt(item, "role") === "user" ? lastTyped(textsOf(textsSource(item))) : ""));
  const promptAt = prompts.findLastIndex((prompt) => prompt !== "");
  const outputs = input
    .slice(promptAt + 1)
    .filter(isOutput)
    .map(outputText);
  const finished = outputs.filter((output) => runningSession(output) === undefined);
  const last = outputs.at(-1);
  const metadata = turnMetadata(body, request);
  const schema = objectAt(objectAt(body, "text"), "format")["schema"];
  const tools = listAt(body, "tools");
  return {
    model: textAt(body, "model"),
    stream: body["stream"] === true,
    hidden: isHidden(metadata),
    isWarmUp: body["generate"] === false,
    session: textAt(objectAt(body, "client_metadata"), "thread_id"),
    prompt: prompts[promptAt] ?? "",
    messages: input.map(toMessage).filter((message) => message !== undefined),
    typed: input.flatMap((item) => (textAt(item, "role") === "user" ? allTyped(textsOf(textsSource(item))) : [])),
    results: finished.map(printed),
    running: last === undefined ? undefined : waitForSession(runningSession(last)),
    shell: shellTool(tools),
    offered: tools.flatMap(offeredIn),
    namespaces: tools.filter(isNamespace).map((tool) => textAt(tool, "name")),
    background: {},
    schema,
  };
}

function textsSource(item: unknown): unknown {
  return isObject(item) ? item["content"] : undefined;
}

function isOutput(item: unknown): boolean {
  return textAt(item, "type").endsWith("_output");
}

function outputText(item: unknown): string {
  const output = isObject(item) ? item["output"] : undefined;
  const text = textsOf(output).join("\n");
  return text === "" && isObject(output) ? textAt(output, "content") : text;
}

/** exec_command puts a few lines with exit code and times before what the command printed. */
function printed(output: string): string {
  const [, text = ""] = /^Output:\n([\s\S]*)$/m.exec(output) ?? [];
  return text.trim() === "" ? output : text.trim();
}

/** exec_command of codex 0.166.0 returns after at most 30 s, with a session that write_stdin polls. */
function runningSession(output: string): number | undefined {
  const match = /^Process running with session ID (\d+)$/m.exec(output);
  return match === null ? undefined : Number(match[1]);
}

function waitForSession(session: number | undefined): ToolCall | undefined {
  if (session === undefined) return undefined;
  return { id: newId("call"), name: "write_stdin", input: { session_id: session, chars: "", yield_time_ms: 30_000 } };
}

function toMessage(item: unknown): Message | undefined {
  if (isOutput(item)) return { role: "tool", text: outputText(item) };
  const text = textsOf(textsSource(item)).join("\n");
  switch (textAt(item, "role")) {
    case "user":
      return { role: "user", text };
    case "assistant":
      return { role: "assistant", text };
    case "developer":
    case "system":
      return { role: "system", text };
    default:
      return undefined;
  }
}

function turnMetadata(body: JsonObject, request: RequestLine): unknown {
  const inBody = textAt(objectAt(body, "client_metadata"), "x-codex-turn-metadata");
  const inHeader = request.headers["x-codex-turn-metadata"];
  return parseJson(inBody === "" && typeof inHeader === "string" ? inHeader : inBody);
}

/** The title of a thread comes from a thread of its own (`thread_title`), a summary as `request_kind: compaction`. */
function isHidden(metadata: unknown): boolean {
  const kind = textAt(metadata, "request_kind");
  const source = textAt(metadata, "thread_source");
  return (kind !== "" && kind !== "turn") || (source !== "" && source !== "user");
}

const shellInputs: Readonly<Record<string, ShellTool["input"]>> = {
  exec_command: (command) => ({ cmd: command, yield_time_ms: 30_000 }),
  shell_command: (command) => ({ command, timeout_ms: 600_000 }),
  shell: (command) => ({ command: ["bash", "-lc", command], timeout_ms: 600_000 }),
  local_shell: (command) => ({ command: ["bash", "-lc", command], timeout_ms: 600_000 }),
};

/** The tools of an MCP server are a namespace of their own: `mcp__<server>`. */
function isNamespace(tool: unknown): boolean {
  return textAt(tool, "type") === "namespace";
}

function offeredIn(tool: unknown): readonly string[] {
  const name = textAt(tool, "name") || textAt(tool, "type");
  return isNamespace(tool) ? listAt(tool, "tools").map((inner) => `${name}__${textAt(inner, "name")}`) : [name];
}

function shellTool(tools: readonly unknown[]): ShellTool | undefined {
  const offered = tools.map((tool) => textAt(tool, "name") || textAt(tool, "type"));
  for (const [name, input] of Object.entries(shellInputs)) if (offered.includes(name)) return { name, input };
  return undefined;
}
