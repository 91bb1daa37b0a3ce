// The websocket of the Responses API, as codex uses it.

import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type JsonObject, objectAt, parseJson, textAt } from "./json.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { startScriptedModel } from "./scripted-model.ts";

let model: ScriptedModel;
let socket: WebSocket;
let received: string[];
beforeEach(async () => {
  model = await startScriptedModel({ websockets: true, keepsBytes: true });
  socket = new WebSocket(`${model.url.replace("http", "ws")}/s/abc/v1/responses`);
  received = [];
  socket.on("message", (data: Buffer) => received.push(data.toString()));
  socket.on("error", () => undefined);
  await once(socket, "open");
});
afterEach(() => model.close());

const typed = (text: string): JsonObject => ({ role: "user", content: [{ type: "input_text", text }] });

/** The type of each message that came for it, and the last one. */
async function ask(body: JsonObject): Promise<{ readonly types: readonly string[]; readonly last: JsonObject }> {
  const from = received.length;
  socket.send(JSON.stringify({ type: "response.create", model: "scripted", stream: true, ...body }));
  const messages = (): readonly unknown[] => received.slice(from).map(parseJson);
  const isOver = (): boolean => /completed|failed|error/.test(textAt(messages().at(-1), "type"));
  while (!isOver()) await once(socket, "message");
  return { types: messages().map((message) => textAt(message, "type")), last: messages().at(-1) as JsonObject };
}

test("each event is a message, and a request that names the answer before it holds only what is new", async () => {
  const warmUp = await ask({ generate: false, input: [{ role: "developer", content: "Be brief." }] });
  expect(warmUp.types).toEqual(["response.created", "response.in_progress", "response.completed"]);
  const first = await ask({
    previous_response_id: idOf(warmUp.last),
    input: [typed("[[shell echo hi]] [[say bye]]")],
    tools: [{ type: "function", name: "exec_command" }],
  });
  const result = { type: "function_call_output", call_id: "c", output: "Output:\nhi\n" };
  const second = await ask({ previous_response_id: idOf(first.last), input: [result] });
  expect(second.types).toContain("response.output_text.delta");
  expect(model.requests().map(({ prefix, says, results, outcome }) => ({ prefix, says, results, outcome }))).toEqual([
    { prefix: "/s/abc", says: "", results: [], outcome: "answered" },
    { prefix: "/s/abc", says: "", results: [], outcome: "answered" },
    { prefix: "/s/abc", says: "bye", results: ["hi"], outcome: "answered" },
  ]);
  const [exchange] = model.exchanges();
  expect(exchange?.request.length).toBe(3);
  expect(exchange?.response.map(String)).toEqual(received);
});

test("an error is a message with its status and headers; a conversation that is not known is one", async () => {
  expect((await ask({ input: [typed("[[limit 20s]]")] })).last).toMatchObject({
    type: "error",
    status: 429,
    error: { type: "usage_limit_reached" },
    headers: { "x-codex-primary-used-percent": "100" },
  });
  expect((await ask({ previous_response_id: "resp_other", input: [typed("hello")] })).last).toMatchObject({
    type: "error",
    status: 400,
    error: { code: "previous_response_not_found" },
  });
  expect((await ask({ input: [typed("[[error quota]]")] })).types).toEqual(["response.created", "response.failed"]);
});

test("it drops the line in the middle, and notices when the other side does", async () => {
  socket.send(JSON.stringify({ stream: true, input: [typed("[[disconnect midway]] [[say one two]]")] }));
  await once(socket, "close");
  expect(received.map((text) => textAt(parseJson(text), "type")).at(-1)).toBe("response.output_text.delta");
  const other = new WebSocket(`${model.url.replace("http", "ws")}/v1/responses`);
  await once(other, "open");
  other.send(JSON.stringify({ stream: true, input: [typed("[[hang]]")] }));
  await model.waitFor(({ outcome }) => outcome === "hung");
  other.terminate();
  await model.waitFor(({ outcome, finishedAt }) => outcome === "hung" && finishedAt !== undefined);
});

function idOf(completed: JsonObject): string {
  return textAt(objectAt(completed, "response"), "id");
}
