// Reads a request of the Gemini API as Gemini CLI 0.61.0 sends it.

import type { Asked, Message, ShellTool } from "./conversation.ts";
import { allTyped, BadRequest, lastTyped } from "./conversation.ts";
import type { RequestLine } from "./dialect.ts";
import type { JsonObject } from "./json.ts";
import { listAt, objectAt, textAt, textsOf } from "./json.ts";

export function readGeminiRequest(body: JsonObject, request: RequestLine): Asked {
  const contents = listAt(body, "contents");
  if (contents.length === 0) throw new BadRequest("contents are not specified");
  const prompts = contents.map((item) => (textAt(item, "role") === "model" ? "" : lastTyped(textsOf(parts(item)))));
  const promptAt = prompts.findLastIndex((prompt) => prompt !== "");
  const system = textsOf(parts(objectAt(body, "systemInstruction"))).join("\n");
  const tools = listAt(body, "tools").flatMap((tool) => listAt(tool, "functionDeclarations"));
  const config = objectAt(body, "generationConfig");
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  return {
    model: request.model,
    stream: request.verb === "streamGenerateContent",
    hidden: isHidden(request, schema, system, tools),
    session: "",
    prompt: prompts[promptAt] ?? "",
    messages: [...(system === "" ? [] : [{ role: "system" as const, text: system }]), ...contents.flatMap(toMessages)],
    typed: contents.flatMap((item) => (textAt(item, "role") === "model" ? [] : allTyped(textsOf(parts(item))))),
    results: contents
      .slice(promptAt + 1)
      .flatMap(resultsOf)
      .map(printed),
    running: undefined,
    shell: shellTool(tools),
    offered: tools.map((tool) => textAt(tool, "name")),
    background: {},
    schema,
  };
}

/**
 * Gemini CLI offers its tools only in the conversation itself. It makes for itself, with a schema: the routing to a
 * model, the check who speaks next, the detection of loops; as text: summaries and the compression of a history.
 */
function isHidden(request: RequestLine, schema: unknown, system: string, tools: readonly unknown[]): boolean {
  if (request.verb === "countTokens" || schema !== undefined) return true;
  const fromGemini = (request.headers["user-agent"] ?? "").startsWith("GeminiCLI");
  return tools.length === 0 && (system !== "" || fromGemini);
}

function parts(item: unknown): readonly unknown[] {
  return listAt(item, "parts");
}

function resultsOf(item: unknown): readonly string[] {
  return parts(item)
    .map((part) => objectAt(part, "functionResponse"))
    .filter((response) => textAt(response, "name") !== "")
    .map((found) => {
      const response = objectAt(found, "response");
      return textAt(response, "output") || textAt(response, "error") || JSON.stringify(response);
    });
}

function printed(output: string): string {
  const [, text = ""] =
    /^<untrusted_context>\nOutput: ([\s\S]*?)(?:\nProcess Group PGID: \d+)?\n<\/untrusted_context>$/.exec(output) ?? [];
  return text === "" ? output : text.trim();
}

function toMessages(item: unknown): readonly Message[] {
  const results = resultsOf(item).map((text) => ({ role: "tool" as const, text }));
  const text = textsOf(parts(item)).join("\n");
  const role = textAt(item, "role") === "model" ? ("assistant" as const) : ("user" as const);
  return text === "" ? results : [...results, { role, text }];
}

function shellTool(tools: readonly unknown[]): ShellTool | undefined {
  const name = "run_shell_command";
  if (!tools.some((tool) => textAt(tool, "name") === name)) return undefined;
  return { name, input: (command) => ({ command, description: "Scripted command" }) };
}
