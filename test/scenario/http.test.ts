/** The HTTP API as a program meets it: on the unix socket, without our client. */
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../src/operation/operations.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.json("daemon", "start");
});
afterAll(() => home.dispose());

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown>;
}

function open(method: string, path: string, headers: Record<string, string>, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath: home.socketPath, method, path, headers: { host: "localhost", ...headers } },
      resolve,
    );
    call.once("error", reject);
    call.end(body);
  });
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await open(
    method,
    path,
    { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body === undefined ? undefined : JSON.stringify(body),
  );
  let text = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return {
    status: response.statusCode ?? 0,
    type: response.headers["content-type"] ?? "",
    body: JSON.parse(text) as Record<string, unknown>,
  };
}

const sleeper = (name: string) => ({
  agent: "command",
  args: ["sleep", "600"],
  cwd: "/",
  name,
  environment: { PATH: "/usr/bin:/bin" },
});

test("the socket is private", () => {
  expect(statSync(home.socketPath).mode & 0o777).toBe(0o600);
  expect(statSync(`${home.dir}/run`).mode & 0o777).toBe(0o700);
});

test("openapi.json names every operation with its schemas", async () => {
  const { body } = await ask("GET", "/openapi.json");
  expect(body["openapi"]).toBe("3.1.1");
  const paths = body["paths"] as Record<string, Record<string, { operationId: string; responses: object }>>;
  const described = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((operation) => operation.operationId),
  );
  const names = operations.flatMap(({ name, without }) => (without === undefined ? [name] : [name, without.name]));
  expect(described.toSorted()).toEqual(names.toSorted());
});

test("a wait by role asks /v1/wait, and one by name its own path", async () => {
  expect(await ask("GET", "/v1/wait?role=nobody&timeout_seconds=0")).toMatchObject({
    status: 409,
    body: { code: "nothing-to-wait-for", detail: "No session of the role nobody is at work; see reeve list." },
  });
  expect(await ask("GET", "/v1/sessions/nobody/wait?timeout_seconds=0")).toMatchObject({ status: 404 });
});

describe("who may ask", () => {
  test.each([
    ["a foreign Host", { host: "evil.example" }],
    ["a Host that only begins like ours", { host: "localhost.evil.example" }],
    ["an Origin", { origin: "http://localhost" }],
  ])("%s is refused", async (_what, headers) => {
    expect(await ask("GET", "/v1/sessions", undefined, headers)).toMatchObject({
      status: 403,
      type: "application/problem+json",
      body: { code: "foreign-caller" },
    });
  });

  test("a change that is not JSON is refused", async () => {
    const response = await open(
      "POST",
      "/v1/sessions",
      { "content-type": "text/plain" },
      JSON.stringify(sleeper("plain")),
    );
    expect(response.statusCode).toBe(400);
    response.resume();
    expect(await home.list()).toEqual([]);
  });
});

test("problems are problem+json with a stable code", async () => {
  expect(await ask("POST", "/v1/sessions/nobody/end", {})).toEqual({
    status: 404,
    type: "application/problem+json",
    body: {
      type: "urn:reeve:error:unknown-session",
      title: "unknown session",
      status: 404,
      detail: 'There is no session "nobody"; see reeve list --all.',
      code: "unknown-session",
      kind: "not-found",
      details: { nearest: [] },
    },
  });
  expect(await ask("GET", "/v1/nothing")).toMatchObject({ status: 404, body: { code: "unknown-path" } });
  expect(await ask("POST", "/v1/sessions", { agent: 7 })).toMatchObject({ status: 400, body: { code: "bad-request" } });
});

test("a change asked for twice with one key is made once; the key with another request is refused", async () => {
  const key = { "idempotency-key": "once" };
  const first = await ask("POST", "/v1/sessions", sleeper("once"), key);
  const second = await ask("POST", "/v1/sessions", sleeper("once"), key);
  expect(second.body["session_id"]).toBe(first.body["session_id"]);
  expect((await home.list()).filter((session) => session.name === "once")).toHaveLength(1);
  expect(await ask("POST", "/v1/sessions", sleeper("other"), key)).toMatchObject({
    status: 409,
    body: { code: "idempotency-conflict" },
  });
  await home.killDaemon();
  await home.json("daemon", "start");
  expect((await ask("POST", "/v1/sessions", sleeper("once"), key)).body["session_id"]).toBe(first.body["session_id"]);
});

test("events as a stream: from a cursor, onwards, without a gap across reconnections", async () => {
  const seen: number[] = [];
  let buffered = "";
  const read = async (lastEventId: number, until: number): Promise<void> => {
    const response = await open("GET", "/v1/events", {
      accept: "text/event-stream",
      "last-event-id": String(lastEventId),
    });
    expect(response.headers["content-type"]).toContain("text/event-stream");
    for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
      buffered += chunk;
      const blocks = buffered.split("\n\n");
      buffered = blocks.pop() ?? "";
      for (const block of blocks) {
        const id = /^id: (\d+)$/m.exec(block)?.[1];
        if (id !== undefined) seen.push(Number(id));
      }
      if ((seen.at(-1) ?? 0) >= until) break;
    }
    buffered = "";
  };
  const head = async (): Promise<number> => (await home.json<{ cursor: number }>("daemon", "status")).cursor;
  await read(0, await head());
  for (let round = 0; round < 5; round++) {
    const started = ask("POST", "/v1/sessions", sleeper(`stream-${round}`));
    await read(seen.at(-1) ?? 0, (seen.at(-1) ?? 0) + 2);
    await started;
  }
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
  await read(seen.at(-1) ?? 0, await head());
  expect(seen).toEqual(seen.map((_, index) => index + 1));
});

test("a subscriber that never reads is not waited for", async () => {
  const response = await open("GET", "/v1/events", { accept: "text/event-stream" });
  response.pause();
  await ask("POST", "/v1/sessions", sleeper("unread"));
  await eventually("others are served", async () => (await home.session("unread")).state === "running");
  response.destroy();
});
