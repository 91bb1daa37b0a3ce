import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { Backend } from "./backend.ts";
import { earlyAnswers, LEGACY_VERSIONS, MODERN_VERSION } from "./early-answers.ts";
import { createLineTransport } from "./line-transport.ts";
import { serveOverStdio } from "./stdio.ts";

const VERSION = "1.2.3";
const unused = (): never => {
  throw new Error("nothing here asks the daemon");
};
const backend = (isSession: boolean): Backend => ({
  isSession,
  call: unused,
  unreadMail: () => null,
  surroundings: unused,
  follow: unused,
  note: unused,
});

const clientInfo = { name: "client", version: "1" };
const META = "io.modelcontextprotocol";
const modern = {
  _meta: {
    [`${META}/protocolVersion`]: MODERN_VERSION,
    [`${META}/clientInfo`]: clientInfo,
    [`${META}/clientCapabilities`]: {},
  },
};
const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const initialize = (protocolVersion: string) =>
  request(1, "initialize", { protocolVersion, capabilities: {}, clientInfo });
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

/** What the SDK alone answers to these messages, given one after another. */
async function answersOfSdk(messages: readonly object[], isSession: boolean): Promise<readonly unknown[]> {
  const input = new PassThrough();
  const output = new PassThrough();
  const answers: unknown[] = [];
  output.on("data", (bytes: Buffer) => answers.push(JSON.parse(bytes.toString("utf8"))));
  const served = serveOverStdio(createLineTransport(input, output), backend(isSession), VERSION);
  let asked = 0;
  for (const message of messages) {
    input.write(`${JSON.stringify(message)}\n`);
    if ("id" in message) asked += 1;
    await eventually("an answer", () => answers.length === asked);
  }
  input.end();
  await served;
  return answers;
}

function answersEarly(messages: readonly object[], isSession: boolean): readonly unknown[] {
  const answer = earlyAnswers({ version: VERSION, isSession });
  return messages.filter((message) => "id" in message).map((message) => answer({ ...message }));
}

test.each([...LEGACY_VERSIONS, MODERN_VERSION, "1999-01-01"])(
  "the first answers to a client of %s are those of the SDK",
  async (version) => {
    for (const isSession of [true, false]) {
      const messages = [initialize(version), initialized, request(2, "tools/list"), request(3, "resources/list")];
      expect(answersEarly(messages, isSession)).toEqual(await answersOfSdk(messages, isSession));
    }
  },
);

test("the first answers to a client of the current protocol are those of the SDK", async () => {
  const messages = [
    request(1, "server/discover", modern),
    request(2, "tools/list", modern),
    request(3, "resources/list", modern),
  ];
  expect(answersEarly(messages, true)).toEqual(await answersOfSdk(messages, true));
});

test.each([
  ["tools before the client has introduced itself", [request(1, "tools/list")]],
  ["an introduction that lacks something", [request(1, "initialize", { protocolVersion: "2025-06-18" })]],
  ["another request", [request(1, "resources/templates/list", modern)]],
  ["a page of tools", [request(1, "tools/list", { ...modern, cursor: "2" })]],
  [
    "a protocol that is not there yet",
    [request(1, "server/discover", { _meta: { ...modern._meta, [`${META}/protocolVersion`]: "2030-01-01" } })],
  ],
])("%s is for the SDK to answer", (_, messages) => {
  expect(answersEarly(messages, true)).toEqual([null]);
});

test("the SDK is asked for with the first request that it must answer, hears all before, and answers none twice", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const ids: unknown[] = [];
  output.on("data", (bytes: Buffer) =>
    ids.push(
      ...bytes
        .toString("utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { id: unknown }).id),
    ),
  );
  const line = createLineTransport(input, output, earlyAnswers({ version: VERSION, isSession: true }));
  let isNeeded = false;
  void line.needed.then(() => (isNeeded = true));
  for (const message of [initialize("2025-06-18"), initialized, request(2, "tools/list")])
    input.write(`${JSON.stringify(message)}\n`);
  await eventually("both answers", () => ids.length === 2);
  expect(isNeeded).toBe(false);
  input.write(`${JSON.stringify(request(3, "resources/templates/list"))}\n`);
  await line.needed;
  const served = serveOverStdio(line, backend(true), VERSION);
  await eventually("the third answer", () => ids.length === 3);
  input.write(`${JSON.stringify(request(4, "tools/list"))}\n`);
  await eventually("the fourth answer", () => ids.length === 4);
  input.end();
  await served;
  expect(ids).toEqual([1, 2, 3, 4]);
});

test("what was asked just before the client went is answered", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.on("data", (bytes: Buffer) => (text += bytes.toString("utf8")));
  const line = createLineTransport(input, output, earlyAnswers({ version: VERSION, isSession: true }));
  input.end(`${JSON.stringify(initialize("2025-06-18"))}\n${JSON.stringify(request(2, "resources/templates/list"))}\n`);
  await line.needed;
  await serveOverStdio(line, backend(true), VERSION);
  expect(text).toContain('"resourceTemplates":[');
});
