/** The API forgives nothing silently, as a program without our client meets it. */
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { eventSchema } from "../../src/operation/event-schema.ts";
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
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const typed =
      text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) };
    const sent = request(
      { socketPath: home.socketPath, method, path, headers: { host: "localhost", ...typed, ...headers } },
      (response) => {
        let told = "";
        response.setEncoding("utf8").on("data", (part: string) => (told += part));
        response.once("end", () => {
          const parsed = JSON.parse(told) as Answer["body"];
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed });
        });
      },
    );
    sent.once("error", reject);
    sent.end(text);
  });
}

/** Sends these bytes, and reads until the other side closes. */
function say(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(home.socketPath);
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.once("error", reject);
    socket.once("close", () => resolve(text));
    socket.write(bytes);
  });
}

const problem = { "content-type": "application/problem+json" };

test.each([
  ["GET", "/v1/events?after=5", undefined, 'read_events has no field "after"; its fields are since, limit, session.'],
  ["GET", "/v1/sessions?al=true", undefined, 'list_sessions has no field "al"; did you mean all?'],
  ["GET", "/v1/events?since=3.5", undefined, "since must be a whole number, not 3.5."],
  ["GET", "/v1/events?since=", undefined, 'since must be a whole number, not "".'],
  ["GET", "/v1/events?since=0x10", undefined, 'since must be a whole number, not "0x10".'],
  ["GET", "/v1/events?since=1&since=2", undefined, 'since must be a whole number, not ["1","2"].'],
  ["GET", "/v1/sessions?all=1", undefined, 'all must be true or false, not "1".'],
  ["GET", "/v1/sessions/x/data?session=y", undefined, "session is in the path already; leave it out of the query."],
  ["POST", "/v1/sessions/x/end", { session: "y" }, "session is in the path already; leave it out of the body."],
  ["POST", "/v1/sessions/x/end", { wen: "now" }, 'end_session has no field "wen"; did you mean when?'],
  [
    "POST",
    "/v1/sessions",
    { agent: "practice", cwd: "/", timeouts: { turn: { after: "5m", than: "end" } } },
    'timeouts.turn of start_session has no field "than"; did you mean then?',
  ],
  [
    "POST",
    "/v1/sessions/x/end?when=now",
    undefined,
    '/v1/sessions/x/end takes nothing in its query, such as "when"; send a JSON object in the body.',
  ],
  ["GET", "/v1/sessions", { all: true }, "GET /v1/sessions takes its fields in the query; send no body."],
  [
    "GET",
    "/openapi.json?format=yaml",
    undefined,
    '/openapi.json takes nothing in its query, such as "format"; it takes no fields.',
  ],
])("%s %s with %j is refused with what is wrong", async (method, path, body, detail) => {
  const { status, headers, body: told } = await ask(method, path, body);
  expect({ status, detail: told["detail"] }).toEqual({ status: 400, detail });
  expect(headers).toMatchObject(problem);
});

test("numbers are taken as programs print them", async () => {
  for (const number of ["0", "0.25", "5e-7", "1E-3"])
    expect((await ask("GET", `/v1/sessions/nobody/wait?timeout_seconds=${number}`)).body).toMatchObject({
      code: "unknown-session",
    });
});

test("a path that is not there is 404 with the nearest, another method 405 with those that are taken", async () => {
  expect(await ask("GET", "/v1/session")).toMatchObject({
    status: 404,
    headers: problem,
    body: { code: "unknown-path", detail: 'There is nothing at "/v1/session"; did you mean /v1/sessions?' },
  });
  expect(await ask("DELETE", "/v1/sessions/fix")).toMatchObject({
    status: 405,
    headers: { ...problem, allow: "GET" },
    body: { code: "wrong-method", status: 405, detail: '"/v1/sessions/fix" takes GET, not DELETE.' },
  });
  expect(await ask("PUT", "/v1/approvals", {})).toMatchObject({ status: 405, headers: { allow: "GET, POST" } });
});

test("a secret is not repeated by whoever refuses it", async () => {
  const wrong = { agent: "command", args: ["true"], cwd: "/", env: { TOKEN: ["hunter2-hunter2"] } };
  const { status, body } = await ask("POST", "/v1/sessions", wrong);
  expect([status, body["detail"]]).toEqual([400, "env.TOKEN must be text; what was given is not shown."]);
  expect(JSON.stringify(body)).not.toContain("hunter2");
});

describe("a stream", () => {
  const accept = { accept: "text/event-stream" };

  test("does not ignore a Last-Event-ID that is none, nor a limit", async () => {
    expect(await ask("GET", "/v1/events", undefined, { ...accept, "last-event-id": "x7" })).toMatchObject({
      status: 400,
      body: { detail: 'Last-Event-ID must be the number of an event, not "x7".' },
    });
    expect(await ask("GET", "/v1/events?limit=5", undefined, accept)).toMatchObject({
      status: 400,
      body: { detail: "A stream takes no limit; leave it out, or ask for application/json." },
    });
  });

  test("is refused where there is none, unless something else is taken as well", async () => {
    expect(await ask("GET", "/v1/daemon", undefined, accept)).toMatchObject({
      status: 400,
      body: { code: "not-a-stream" },
    });
    const either = { accept: "text/event-stream, application/json" };
    expect(await ask("GET", "/v1/daemon", undefined, either)).toMatchObject({ status: 200 });
  });
});

test.each([
  ["what is not HTTP", "hello there\r\n\r\n", 400],
  ["a method that nobody knows", "GRAB /v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
  ["headers without end", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
  ["no Host", "GET /v1/sessions HTTP/1.1\r\nConnection: close\r\n\r\n", 403],
  ["an expectation", "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\n\r\n", 417],
  [
    "a body that breaks its own rules",
    "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    400,
  ],
])("%s is answered with problem+json, too", async (_what, bytes, status) => {
  const [head = "", body = ""] = (await say(bytes)).split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head.toLowerCase()).toContain("content-type: application/problem+json");
  expect(JSON.parse(body)).toMatchObject({ status, detail: expect.stringMatching(/\.$/) as string });
});

test("the daemon says where it listens", async () => {
  expect((await ask("GET", "/v1/daemon")).body).toMatchObject({ socket_path: home.socketPath });
  expect(await home.json("daemon", "status")).toMatchObject({ socket_path: home.socketPath });
  expect((await home.run(["daemon", "status"])).stdout).toContain(home.socketPath);
});

test("every event that happens is one that is described, with all its fields", async () => {
  await home.json("start", "practice", "--name", "talker", "Say hello", "--wait");
  await home.json("send", "talker", "ask before you continue");
  await home.json("wait", "talker", "--for", "awaiting-approval");
  await home.json("approve", "talker", "--wait");
  await home.json("pause", "talker");
  await home.json("resume", "talker");
  await home.json("end", "talker", "--when", "now");
  const { body } = await ask("GET", "/v1/events");
  const events = body["events"] as readonly { readonly type: string }[];
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(15);
  // What is not described would be left out.
  for (const event of events) expect(z.parse(eventSchema, event)).toEqual(event);
});
