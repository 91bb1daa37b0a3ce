import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, listen, rawClients } from "./raw-client.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { startScriptedModel } from "./scripted-model.ts";

let model: ScriptedModel;
beforeEach(async () => {
  model = await startScriptedModel();
});
afterEach(() => model.close());

describe.each(rawClients)("$api", (client) => {
  test("records what was asked, under the prefix of the session, without secrets", async () => {
    const prompt = "remember 4711 [[say ok]]";
    await listen(client, model.url, { prompt, prefix: "/s/abc/deep" });
    await listen(client, model.url, { prompt: "other" });
    const instant = expect.any(Number) as unknown;
    expect(model.requests({ prefix: "/s/abc/deep", hidden: false })).toEqual([
      {
        at: instant,
        api: client.api,
        path: `/s/abc/deep${client.path(true).split("?")[0]}`,
        prefix: "/s/abc/deep",
        model: expect.stringMatching(/\w/) as unknown,
        hidden: false,
        prompt,
        messages: expect.arrayContaining([
          { role: "system", text: "Be brief." },
          { role: "user", text: expect.stringContaining(prompt) as unknown },
        ]) as unknown,
        typed: [prompt],
        offered: [client.shellTool],
        results: [],
        says: "ok",
        calls: [],
        outcome: "answered",
        finishedAt: instant,
      },
    ]);
    expect(model.requests()).toHaveLength(2);
    const shown = await (await fetch(`${model.url}/requests`)).text();
    expect(JSON.parse(shown)).toEqual(model.requests());
    expect(shown).not.toContain("secret-value");
  });

  test("a prompt in plain words can stand for directives", async () => {
    const plain = await startScriptedModel({ meanings: { "How are you?": "[[say Fine.]]" } });
    try {
      expect(await listen(client, plain.url, { prompt: "How are you?" })).toMatchObject({ text: "Fine." });
      expect(await listen(client, plain.url, { prompt: "And you?" })).toMatchObject({ text: "You said: And you?" });
    } finally {
      await plain.close();
    }
  });

  test("closing drops what hangs", async () => {
    const silent = expect(ask(client, model.url, { prompt: "[[hang]]" })).rejects.toThrow("fetch failed");
    const midway = await ask(client, model.url, { prompt: "[[hang midway]]" });
    const halved = expect(midway.text()).rejects.toThrow("terminated");
    await model.waitFor(() => model.requests().filter((request) => request.outcome === "hung").length === 2);
    await model.close();
    await Promise.all([silent, halved]);
  });
});

test("counts tokens", async () => {
  const post = async (path: string, body: unknown) =>
    (await fetch(`${model.url}${path}`, { method: "POST", body: JSON.stringify(body) })).json();
  const text = "x".repeat(40);
  expect(await post("/v1/messages/count_tokens", { messages: [{ role: "user", content: text }] })).toHaveProperty(
    "input_tokens",
    13,
  );
  expect(
    await post("/v1beta/models/m:countTokens", { contents: [{ role: "user", parts: [{ text }] }] }),
  ).toHaveProperty("totalTokens", 13);
  expect(model.requests().map((request) => request.hidden)).toEqual([true, true]);
});

test("anything else is not there", async () => {
  const status = async (path: string, init: RequestInit = {}) => (await fetch(`${model.url}${path}`, init)).status;
  expect(await status("/")).toBe(404);
  expect(await status("/v1/messages")).toBe(404);
  expect(await status("/v1/messages/batches", { method: "POST", body: "{}" })).toBe(404);
  expect(await status("/v1/responses", { headers: { "x-a": "b" } })).toBe(404);
  expect(await status("/s/abc/v1/models")).toBe(200);
  expect(model.requests()).toEqual([]);
});

test("waiting for a request that does not come ends", async () => {
  await expect(model.waitFor(() => false, 20)).rejects.toThrow("no such request within 20 ms");
});

test("codex 0.166.0: a command that still runs is polled, not reported", async () => {
  const input = [
    { role: "user", content: "[[shell sleep 60]]" },
    {
      type: "function_call_output",
      call_id: "c",
      output: "Chunk ID: 1\nProcess running with session ID 77\nOutput:\n",
    },
  ];
  const response = await fetch(`${model.url}/v1/responses`, {
    method: "POST",
    body: JSON.stringify({ model: "m", input }),
  });
  const call = { session_id: 77, chars: "", yield_time_ms: 30_000 };
  expect(await response.json()).toMatchObject({
    output: [{ type: "function_call", name: "write_stdin", arguments: JSON.stringify(call) }],
  });
});

test("claude 2.1.325: a compaction gets a summary in tags, whatever the conversation says", async () => {
  const text =
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n- an <analysis> block followed by a <summary> block.";
  const body = {
    model: "m",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "[[hang]]" },
          { type: "text", text },
        ],
      },
    ],
    tools: [{ name: "Bash" }],
  };
  const response = await fetch(`${model.url}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
  expect(await response.json()).toMatchObject({
    content: [{ type: "text", text: "<summary>Scripted summary</summary>" }],
  });
  expect(model.requests({ hidden: true })).toHaveLength(1);
});

test("gemini 0.61.0: a request of Gemini CLI without tools is its own", async () => {
  const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Summarize: [[hang]]" }] }] });
  const path = "/v1beta/models/gemini-flash:generateContent";
  const headers = { "user-agent": "GeminiCLI-tui/0.61.0/gemini-pro (linux; x64; terminal)" };
  const response = await fetch(`${model.url}${path}`, { method: "POST", headers, body });
  expect(await response.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: "Scripted session" }] } }] });
  expect(model.requests({ hidden: true })).toHaveLength(1);
});
