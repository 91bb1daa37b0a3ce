// The same failures over each of the three APIs.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, dataOf, listen, rawClients } from "./raw-client.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { startScriptedModel } from "./scripted-model.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.close());

const errorBodies = {
  responses: {
    error: { message: "Scripted status 429", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" },
  },
  messages: {
    type: "error",
    error: { type: "rate_limit_error", message: "Scripted status 429" },
    request_id: expect.stringMatching(/^req_/) as unknown,
  },
  gemini: { error: { code: 429, message: "Scripted status 429", status: "RESOURCE_EXHAUSTED" } },
};

describe.each(rawClients)("$api", (client) => {
  const prefix = `/f/${client.api}`;
  const outcomeOf = async (prompt: string) => {
    const found = await model.waitFor(
      (request) => request.prefix === prefix && request.prompt === prompt && request.outcome !== undefined,
    );
    return found.outcome;
  };

  test("a status comes every time, with the vendor's own body", async () => {
    const prompt = "[[status 429]]";
    for (const _ of [1, 2, 3]) {
      const response = await ask(client, model.url, { prompt, prefix });
      expect([response.status, response.headers.get("retry-after")]).toEqual([429, null]);
      expect(await response.json()).toEqual(errorBodies[client.api]);
    }
    expect(await outcomeOf(prompt)).toBe("failed");
  });

  test("a counted status ends, and starts anew for the next conversation", async () => {
    const prompt = "[[status 500 times 2]] [[retry-after 1]] [[say better]]";
    for (const _ of ["first conversation", "second conversation"]) {
      for (const __ of [1, 2]) {
        const response = await ask(client, model.url, { prompt, prefix });
        expect([response.status, response.headers.get("retry-after")]).toEqual([500, "1"]);
        await response.text();
      }
      expect((await listen(client, model.url, { prompt, prefix })).text).toBe("better");
    }
  });

  test("hangs before any byte until the client gives up", async () => {
    const prompt = "[[hang]]";
    const giveUp = new AbortController();
    const answer = ask(client, model.url, { prompt, prefix, signal: giveUp.signal });
    const failed = expect(answer).rejects.toThrow("aborted");
    const hung = await model.waitFor((request) => request.prefix === prefix && request.outcome === "hung");
    expect(hung.finishedAt).toBeUndefined();
    giveUp.abort();
    await failed;
    const given = await model.waitFor((request) => request.at === hung.at && request.finishedAt !== undefined);
    expect(given.outcome).toBe("hung");
  });

  test("hangs midway, after a first piece", async () => {
    const prompt = "[[hang midway]] [[say 0123456789]]";
    const giveUp = new AbortController();
    const response = await ask(client, model.url, { prompt, prefix, signal: giveUp.signal });
    const reader = response.body?.getReader();
    const piece = await reader?.read();
    expect(client.readEvents(dataOf(new TextDecoder().decode(piece?.value))).text).toBe("01234");
    const nextPiece = reader?.read();
    giveUp.abort();
    await expect(nextPiece).rejects.toThrow("aborted");
    expect(await outcomeOf(prompt)).toBe("hung");
  });

  test("drops the line before the answer", async () => {
    await expect(ask(client, model.url, { prompt: "[[disconnect]]", prefix })).rejects.toThrow("fetch failed");
    expect(await outcomeOf("[[disconnect]]")).toBe("disconnected");
  });

  test.each([true, false])("drops the line in the middle of the answer (stream: %s)", async (stream) => {
    const prompt = `stream ${stream} [[disconnect midway]]`;
    const response = await ask(client, model.url, { prompt, prefix, stream });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(await outcomeOf(prompt)).toBe("disconnected");
  });

  test("an answer that the client did not wait for is aborted", async () => {
    const prompt = "[[delay 10m]]";
    const giveUp = new AbortController();
    const failed = expect(ask(client, model.url, { prompt, prefix, signal: giveUp.signal })).rejects.toThrow("aborted");
    await model.waitFor((request) => request.prefix === prefix && request.prompt === prompt);
    giveUp.abort();
    await failed;
    expect(await outcomeOf(prompt)).toBe("aborted");
  });

  test.each(["no json", "[]", "{}"])("a request that makes no sense gets 400: %s", async (body) => {
    const response = await fetch(`${model.url}${client.path(true)}`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toHaveProperty("error");
  });
});
