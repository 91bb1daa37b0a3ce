// The same answers over each of the three APIs.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, dataOf, listen, rawClients } from "./raw-client.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { startScriptedModel } from "./scripted-model.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.close());

describe.each(rawClients)("$api", (client) => {
  const said = (text: string) => ({ text, tool: "", input: undefined });

  test.each([true, false])("says by default what it was asked (stream: %s)", async (stream) => {
    expect(await listen(client, model.url, { prompt: `a plain prompt`, stream })).toEqual(
      said("You said: a plain prompt"),
    );
  });

  test("says the first 200 characters at most", async () => {
    expect(await listen(client, model.url, { prompt: "x".repeat(300) })).toEqual(said(`You said: ${"x".repeat(200)}`));
  });

  test("says what it is told, and never what a reminder of the agent tells", async () => {
    expect(await listen(client, model.url, { prompt: "p [[say one]] [[say two]]" })).toEqual(said("one\ntwo"));
  });

  test.each([true, false])("calls the shell tool and reports what came back (stream: %s)", async (stream) => {
    const prompt = "[[shell echo one]] [[shell echo two]] [[say all done]]";
    const first = await listen(client, model.url, { prompt, stream });
    const second = await listen(client, model.url, { prompt, stream, results: ["one"] });
    const third = await listen(client, model.url, { prompt, stream, results: ["one", "two"] });
    expect([first.tool, JSON.stringify(first.input)]).toEqual([client.shellTool, expect.stringContaining("echo one")]);
    expect([second.tool, JSON.stringify(second.input)]).toEqual([
      client.shellTool,
      expect.stringContaining("echo two"),
    ]);
    expect(third).toEqual(said("all done"));
  });

  test("calls that are joined come in one answer, and the next one when both results are there", async () => {
    const prompt = "[[shell echo one]] [[and echo two]] [[say both done]]";
    await listen(client, model.url, { prompt });
    const commands = model
      .requests()
      .at(-1)
      ?.calls.map((call) => JSON.stringify(call.input));
    expect(commands).toEqual([expect.stringContaining("echo one"), expect.stringContaining("echo two")]);
    expect(await listen(client, model.url, { prompt, results: ["one", "two"] })).toEqual(said("both done"));
  });

  test("without more to say, it says the result", async () => {
    const prompt = "[[shell echo one]]";
    expect(await listen(client, model.url, { prompt, results: ["one"] })).toEqual(said("Done: one"));
  });

  test("says text along with a call", async () => {
    const answer = await listen(client, model.url, { prompt: "[[say look:]][[shell ls]]" });
    expect([answer.text, answer.tool]).toEqual(["look:", client.shellTool]);
  });

  test("tool call ids are unique", async () => {
    const bodies = await Promise.all(
      [1, 2].map(async () => (await ask(client, model.url, { prompt: "[[shell ls]]" })).text()),
    );
    const ids = bodies.map((body) => /"(call_[0-9a-f]{32})"/.exec(body)?.[1]);
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain(undefined);
  });

  test("streams in pieces", async () => {
    const response = await ask(client, model.url, { prompt: "[[stream 5 10ms]][[say 0123456789]]" });
    const events = dataOf(await response.text());
    const pieces = events.map((event) => client.readEvents([event]).text).filter((text) => text !== "");
    expect(pieces).toEqual(["01", "23", "45", "67", "89"]);
  });

  test("waits before the first byte", async () => {
    const startedAt = performance.now();
    await ask(client, model.url, { prompt: "[[delay 150ms]]" });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(145);
  });

  test("waits until a file is there", async () => {
    const directory = mkdtempSync(join(tmpdir(), "reeve-until-"));
    try {
      const file = join(directory, "now");
      let isAnswered = false;
      const asked = ask(client, model.url, { prompt: `[[until ${file}]]` }).then(() => (isAnswered = true));
      // Another request comes and goes meanwhile.
      await ask(client, model.url, { prompt: "[[delay 100ms]]" });
      expect(isAnswered).toBe(false);
      writeFileSync(file, "");
      await asked;
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("says big text", async () => {
    expect((await listen(client, model.url, { prompt: "[[big 20000]]" })).text.length).toBe(20_000);
  });

  test("counts tokens the same way each time", async () => {
    const usage = async () =>
      (await (await ask(client, model.url, { prompt: "count [[say ok]]", stream: false })).text()).match(
        /"\w*(?:_tokens|TokenCount)":\d+/g,
      );
    const first = await usage();
    expect(first).not.toBeNull();
    expect(await usage()).toEqual(first);
  });

  test("a hidden request follows its schema and obeys no directive", async () => {
    const schema = { type: "object", properties: { title: { type: "string" } } };
    const prompt = `Name this session: ${client.api} [[hang]] [[status 500]]`;
    expect(await listen(client, model.url, { prompt, schema })).toEqual(said('{"title":"Scripted session"}'));
    expect(model.requests({ hidden: true }).map((request) => request.prompt)).toContain(prompt);
  });
});

test("Claude Code's tools that work on in the background", async () => {
  const body = {
    model: "m",
    messages: [{ role: "user", content: "[[background sleep 9]] [[agent [[say from below]]]] [[say begun]]" }],
    tools: [{ name: "Bash" }, { name: "Agent" }],
  };
  const result = (content: string) => ({ role: "user", content: [{ type: "tool_result", content }] });
  for (const messages of [body.messages, [...body.messages, result("running")]])
    await fetch(`${model.url}/v1/messages`, { method: "POST", body: JSON.stringify({ ...body, messages }) });
  const calls = model
    .requests()
    .slice(-2)
    .flatMap((request) => request.calls);
  expect(calls).toMatchObject([
    { name: "Bash", input: { command: "sleep 9", run_in_background: true } },
    { name: "Agent", input: { prompt: "[[say from below]]" } },
  ]);
});
