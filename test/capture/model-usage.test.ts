/** The three vendors' responses, as they come: in any pieces. */
import { expect, test } from "vitest";
import { readResponseUsage as readClaude } from "../../src/agent/claude/response-usage.ts";
import { readResponseUsage as readCodex } from "../../src/agent/codex/response-usage.ts";
import { readResponseUsage as readGemini } from "../../src/agent/gemini/response-usage.ts";
import type { Fields } from "../../src/platform/json-fields.ts";
import type { ReadUsage } from "../../src/session/model-call.ts";
import { createUsageMeter } from "../../src/capture/model-usage.ts";

const read: ReadUsage = (event) => readCodex(event) ?? readClaude(event) ?? readGemini(event);
const sse = (...events: readonly Fields[]): string =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("");
const usage = (input: number | null, output: number | null, cached: number | null) => ({
  input_tokens: input,
  output_tokens: output,
  cached_tokens: cached,
});
const responses = { input_tokens: 20, input_tokens_details: { cached_tokens: 8 }, output_tokens: 4 };

test.each([
  [
    "Responses API, as a stream",
    sse(
      { type: "response.created", response: { model: "gpt-x", usage: null } },
      { type: "response.output_text.delta", delta: 'the word "model" in a text' },
      { type: "response.completed", response: { model: "gpt-x", usage: responses } },
    ),
    { model: "gpt-x", usage: usage(20, 4, 8) },
  ],
  [
    "Chat Completions, as a stream",
    `${sse(
      { object: "chat.completion.chunk", model: "m", choices: [] },
      { object: "chat.completion.chunk", model: "m", usage: { prompt_tokens: 3, completion_tokens: 2 } },
    )}data: [DONE]\n\n`,
    { model: "m", usage: usage(3, 2, null) },
  ],
  [
    "Messages API, as a stream",
    sse(
      {
        type: "message_start",
        message: {
          model: "claude-x",
          usage: { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, output_tokens: 1 },
        },
      },
      { type: "content_block_delta", delta: { text: "hi" } },
      { type: "message_delta", usage: { output_tokens: 42 } },
    ),
    { model: "claude-x", usage: usage(112, 42, 100) },
  ],
  [
    "Messages API, as one body",
    JSON.stringify({ type: "message", model: "claude-x", usage: { input_tokens: 1, output_tokens: 2 } }),
    { model: "claude-x", usage: usage(1, 2, null) },
  ],
  [
    "streamGenerateContent",
    sse(
      { candidates: [], modelVersion: "gemini-x", usageMetadata: { promptTokenCount: 9 } },
      {
        modelVersion: "gemini-x",
        usageMetadata: {
          promptTokenCount: 9,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 2,
          cachedContentTokenCount: 4,
        },
      },
    ),
    { model: "gemini-x", usage: usage(9, 5, 4) },
  ],
  [
    "generateContent with a log-in, as a list",
    JSON.stringify([{ response: { modelVersion: "gemini-x", usageMetadata: { promptTokenCount: 1 } } }]),
    { model: "gemini-x", usage: usage(1, null, null) },
  ],
  ["nothing of the kind", "just a text\n\n", { model: null, usage: null }],
])("%s", (_what, text, expected) => {
  for (const size of [1, 7, text.length]) {
    const meter = createUsageMeter(read);
    for (let at = 0; at < text.length; at += size) meter.push(text.slice(at, at + size));
    expect(meter.result()).toEqual(expected);
  }
});

test("the answers in one websocket are added up", () => {
  const meter = createUsageMeter(read);
  for (let n = 0; n < 3; n += 1)
    meter.message(JSON.stringify({ type: "response.completed", response: { model: "gpt-x", usage: responses } }));
  expect(meter.result()).toEqual({ model: "gpt-x", usage: usage(60, 12, 24) });
});
