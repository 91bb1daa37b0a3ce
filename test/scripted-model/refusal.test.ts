// What each vendor answers when it refuses.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, dataOf, listen, type RawClient, rawClients } from "./raw-client.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { startScriptedModel } from "./scripted-model.ts";
import { parseJson } from "./json.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.close());

async function refusal(client: RawClient, prompt: string) {
  const response = await ask(client, model.url, { prompt });
  const text = await response.text();
  const body: unknown = parseJson(text) ?? dataOf(text).at(-1);
  return { status: response.status, headers: response.headers, body, text };
}

const limits = {
  responses: { error: { type: "usage_limit_reached", resets_at: expect.any(Number) as unknown } },
  messages: { error: { type: "rate_limit_error" } },
  gemini: { error: { status: "RESOURCE_EXHAUSTED" } },
};
const resets = {
  responses: "x-codex-primary-reset-at",
  messages: "anthropic-ratelimit-unified-reset",
  gemini: null,
};
const codes = {
  responses: { rate: 200, quota: 200, billing: 429, auth: 401, context: 200, overloaded: 503 },
  messages: { rate: 429, quota: 400, billing: 400, auth: 401, context: 400, overloaded: 529 },
  gemini: { rate: 429, quota: 429, billing: 429, auth: 400, context: 400, overloaded: 503 },
};

describe.each(rawClients)("$api", (client) => {
  test("a limit names its reset, and is over then", async () => {
    const prompt = "[[limit 1s]] [[say fine]]";
    const { status, headers, body, text } = await refusal(client, prompt);
    expect(status).toBe(429);
    expect(body).toMatchObject(limits[client.api]);
    const name = resets[client.api];
    if (name === null) expect(text).toMatch(/"retryDelay":"[12]s"/);
    else expect(Number(headers.get(name)) * 1000 - Date.now()).toBeLessThan(2_100);
    while ((await ask(client, model.url, { prompt })).status === 429) await sleep(100);
    expect((await ask(client, model.url, { prompt })).status, "the next conversation begins a new one").toBe(429);
  });

  test("once, it is the whole account's", async () => {
    const question = { prompt: "hello", prefix: `/other/${client.api}` };
    expect((await listen(client, model.url, question)).text).toBe("You said: hello");
    const prompt = "[[limit 1s once]] [[say fine]]";
    expect((await ask(client, model.url, { prompt })).status).toBe(429);
    expect((await ask(client, model.url, question)).status, "another conversation").toBe(429);
    while ((await ask(client, model.url, { prompt })).status === 429) await sleep(100);
    expect((await listen(client, model.url, { prompt })).text).toBe("fine");
    expect((await listen(client, model.url, question)).text).toBe("You said: hello");
  });

  test.each(["rate", "quota", "billing", "auth", "context", "overloaded"] as const)("error %s", async (kind) => {
    const { status, text } = await refusal(client, `[[error ${kind}]]`);
    expect(status).toBe(codes[client.api][kind]);
    expect(text).toContain("error");
  });

  test("how much is used stands beside a good answer", async () => {
    const response = await ask(client, model.url, { prompt: "[[used 83]] [[say fine]]" });
    const { "x-codex-primary-used-percent": codex, "anthropic-ratelimit-unified-5h-utilization": claude } =
      Object.fromEntries(response.headers);
    expect([response.status, codex, claude]).toEqual(
      { responses: [200, "83", undefined], messages: [200, undefined, "0.83"], gemini: [200, undefined, undefined] }[
        client.api
      ],
    );
    await response.text();
  });
});

test.each(["[[limit soon]]", "[[limit 5s twice]]", "[[error nonsense]]", "[[used 101]]"])(
  "%s is said aloud",
  async (prompt) => {
    const [client] = rawClients;
    if (client === undefined) throw new Error("no client");
    expect((await listen(client, model.url, { prompt })).text).toContain("Bad directive");
  },
);
