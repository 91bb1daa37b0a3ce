// Asks the scripted model by raw fetch in each of the three APIs, with the least that an agent would send.

import type { Api } from "./conversation.ts";
import { listAt, objectAt, parseJson, textAt } from "./json.ts";

export interface Question {
  readonly prompt: string;
  /** What shell commands printed that were called after the prompt. */
  readonly results?: readonly string[];
  readonly stream?: boolean;
  readonly schema?: unknown;
  readonly prefix?: string;
  readonly signal?: AbortSignal;
}

export interface Said {
  readonly text: string;
  readonly tool: string;
  readonly input: unknown;
}

export interface RawClient {
  readonly api: Api;
  readonly shellTool: string;
  path(stream: boolean): string;
  body(question: Question): unknown;
  /** From the data of each event. */
  readEvents(events: readonly unknown[]): Said;
  readWhole(body: unknown): Said;
}

export function ask(client: RawClient, url: string, question: Question): Promise<Response> {
  return fetch(`${url}${question.prefix ?? ""}${client.path(question.stream ?? true)}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer secret-value", "x-api-key": "secret-value" },
    body: JSON.stringify(client.body(question)),
    signal: question.signal ?? null,
  });
}

export async function listen(client: RawClient, url: string, question: Question): Promise<Said> {
  const response = await ask(client, url, question);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const text = await response.text();
  return question.stream === false ? client.readWhole(parseJson(text)) : client.readEvents(dataOf(text));
}

export function dataOf(stream: string): readonly unknown[] {
  const lines = stream.split(/\r?\n/).filter((line) => line.startsWith("data: "));
  return lines.map((line) => parseJson(line.slice(6)));
}

const responsesClient: RawClient = {
  api: "responses",
  shellTool: "exec_command",
  path: () => "/v1/responses",
  body: ({ prompt, results = [], stream = true, schema }) => ({
    model: "scripted",
    stream,
    input: [
      { role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
      { role: "user", content: [{ type: "input_text", text: prompt }] },
      { role: "user", content: [{ type: "input_text", text: "<environment_context>[[hang]]</environment_context>" }] },
      ...results.map((text) => ({
        type: "function_call_output",
        call_id: "c",
        output: `Wall time: 0\nOutput:\n${text}\n`,
      })),
    ],
    tools: [{ type: "function", name: "exec_command" }],
    ...(schema === undefined
      ? {}
      : { text: { format: { type: "json_schema", schema } }, client_metadata: titleThread }),
  }),
  readEvents: (events) => {
    const done = events.filter((event) => textAt(event, "type") === "response.output_item.done");
    const said = readOutput(done.map((event) => objectAt(event, "item")));
    const deltas = events.filter((event) => textAt(event, "type") === "response.output_text.delta");
    return { ...said, text: deltas.map((event) => textAt(event, "delta")).join("") };
  },
  readWhole: (body) => readOutput(listAt(body, "output")),
};

const titleThread = {
  "x-codex-turn-metadata": JSON.stringify({ request_kind: "turn", thread_source: "thread_title" }),
};

function readOutput(items: readonly unknown[]): Said {
  const call = items.find((item) => textAt(item, "type") === "function_call");
  const message = items.find((item) => textAt(item, "type") === "message");
  const text = textAt(listAt(message, "content")[0], "text");
  return { text, tool: textAt(call, "name"), input: parseJson(textAt(call, "arguments")) };
}

const messagesClient: RawClient = {
  api: "messages",
  shellTool: "Bash",
  path: () => "/v1/messages?beta=true",
  body: ({ prompt, results = [], stream = true, schema }) => ({
    model: "claude-opus",
    stream,
    max_tokens: 100,
    system: [{ type: "text", text: "Be brief." }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: prompt },
          { type: "text", text: "<system-reminder>[[hang]]</system-reminder>" },
        ],
      },
      { role: "system", content: "[[hang]]" },
      ...results.map((content) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: "t", content }] })),
    ],
    tools: [{ name: "Bash" }],
    ...(schema === undefined ? {} : { output_config: { format: { type: "json_schema", schema } } }),
  }),
  readEvents: (events) => {
    const deltas = events.map((event) => objectAt(event, "delta"));
    const block = events
      .map((event) => objectAt(event, "content_block"))
      .find((part) => textAt(part, "type") === "tool_use");
    return {
      text: deltas.map((delta) => textAt(delta, "text")).join(""),
      tool: textAt(block, "name"),
      input: parseJson(deltas.map((delta) => textAt(delta, "partial_json")).join("")),
    };
  },
  readWhole: (body) => {
    const parts = listAt(body, "content");
    const call = parts.find((part) => textAt(part, "type") === "tool_use");
    const input = call === undefined ? undefined : objectAt(call, "input");
    return { text: parts.map((part) => textAt(part, "text")).join(""), tool: textAt(call, "name"), input };
  },
};

const geminiClient: RawClient = {
  api: "gemini",
  shellTool: "run_shell_command",
  path: (stream) => `/v1beta/models/gemini-flash:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: ({ prompt, results = [], schema }) => ({
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [
      { role: "user", parts: [{ text: "<session_context>[[hang]]</session_context>" }, { text: prompt }] },
      ...results.map((output) => ({
        role: "user",
        parts: [{ functionResponse: { name: "run_shell_command", response: { output } } }],
      })),
    ],
    tools: [{ functionDeclarations: [{ name: "run_shell_command" }] }],
    ...(schema === undefined ? {} : { generationConfig: { responseJsonSchema: schema } }),
  }),
  readEvents: (events) => readParts(events.flatMap(partsOf)),
  readWhole: (body) => readParts(partsOf(body)),
};

function partsOf(body: unknown): readonly unknown[] {
  return listAt(body, "candidates").flatMap((candidate) => listAt(objectAt(candidate, "content"), "parts"));
}

function readParts(parts: readonly unknown[]): Said {
  const call = parts.map((part) => objectAt(part, "functionCall")).find((found) => textAt(found, "name") !== "");
  const input = call === undefined ? undefined : objectAt(call, "args");
  return { text: parts.map((part) => textAt(part, "text")).join(""), tool: textAt(call, "name"), input };
}

export const rawClients: readonly RawClient[] = [responsesClient, messagesClient, geminiClient];
