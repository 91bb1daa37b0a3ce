/** What an agent and its model say to each other passes the capture proxy byte for byte, as it comes. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  ask,
  bodyOf,
  type Handler,
  startTestProxy,
  startUpstream,
  type TestProxy,
  type TestUpstream,
  toldBody,
} from "./proxy-fixture.ts";
import type { Route } from "../../src/capture/proxy/contract.ts";
import { eventually } from "../support/eventually.ts";

let proxy: TestProxy;
let upstream: TestUpstream;
let route: Route;
let handle: Handler;

beforeAll(async () => {
  proxy = await startTestProxy();
  upstream = await startUpstream((request, response) => handle(request, response));
  route = await proxy.route({ api: upstream.url, base: `${upstream.url}/some/base/` });
});
afterEach(() => {
  handle = (_request, response) => void response.end();
});
afterAll(async () => {
  await proxy.dispose();
  await upstream.close();
});

const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), { maxLength: 12 });

test("random bodies in random pieces arrive as they were sent, both ways, and so they are recorded", async () => {
  let count = 0;
  const agent = new Agent({ keepAlive: true });
  await fc.assert(
    fc.asyncProperty(pieces, pieces, fc.boolean(), fc.boolean(), async (sent, answered, hasLength, answersLength) => {
      const whole = Buffer.concat(answered);
      let received: Buffer | null = null;
      handle = async (request, response) => {
        received = await bodyOf(request);
        if (answersLength) response.setHeader("content-length", whole.length);
        for (const piece of answered) await new Promise((resolve) => response.write(piece, resolve));
        response.end();
      };
      const body = Buffer.concat(sent);
      const headers = hasLength ? { "content-length": body.length } : { "transfer-encoding": "chunked" };
      const buffers = sent.map((piece) => Buffer.from(piece));
      const answer = await ask(`${proxy.address(route)}/v1/${(count += 1)}`, {
        method: "POST",
        headers,
        pieces: buffers,
        agent,
      });
      expect(received).toEqual(body);
      expect(answer.body).toEqual(whole);
      const lines = await proxy.recorded(`/v1/${count}`);
      expect(toldBody(lines, "agent")).toEqual(body);
      expect(toldBody(lines, "model")).toEqual(whole);
      expect(lines.at(-1)).toMatchObject({
        outcome: "complete",
        request_bytes: body.length,
        response_bytes: whole.length,
        status: 200,
      });
    }),
    { numRuns: 25 },
  );
  agent.destroy();
});

test("each chunk of a stream arrives before the next one is sent", async () => {
  const streams: { write(text: string): void; end(): void }[] = [];
  handle = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    streams.push(response);
  };
  const request = httpRequest(`${proxy.address(route)}/stream`, { agent: false }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  for (let n = 0; n < 20; n += 1) {
    streams[0]?.write(`data: ${n}\n\n`);
    const [chunk] = (await once(response, "data")) as [Buffer];
    expect(chunk.toString()).toBe(`data: ${n}\n\n`);
  }
  streams[0]?.end();
  response.resume();
  await once(response, "end");
});

test("what an agent sends arrives before it sends the rest", async () => {
  handle = (request, response) => {
    response.flushHeaders();
    request.on("data", (part: Buffer) => response.write(part));
    request.on("end", () => response.end());
  };
  const request = httpRequest(`${proxy.address(route)}/echo`, { method: "POST", agent: false });
  request.write("first");
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(String((await once(response, "data"))[0])).toBe("first");
  request.write("second");
  expect(String((await once(response, "data"))[0])).toBe("second");
  request.end();
  response.resume();
  await once(response, "end");
});

test("methods, paths, queries, headers and their spelling arrive as they were; the host is the upstream's", async () => {
  const seen: unknown[] = [];
  handle = (request, response) => {
    const { method, url, rawHeaders } = request;
    seen.push({ method, url, rawHeaders });
    response.writeHead(418, "Short And Stout", ["X-MiXed", "a", "Set-Cookie", "b=1", "Set-Cookie", "c=2"]);
    response.end("tea");
  };
  const answer = await ask(`${proxy.address(route, "base")}/v1/%7Ex?q=a%20b&&`, {
    method: "PATCH",
    headers: ["Host", `localhost:${proxy.port}`, "X-Odd", "1", "x-odd", "2", "Content-Length", "0"] as never,
  });
  expect(seen).toEqual([
    {
      method: "PATCH",
      url: "/some/base/v1/%7Ex?q=a%20b&&",
      rawHeaders: [
        "Host",
        `127.0.0.1:${upstream.port}`,
        "X-Odd",
        "1",
        "x-odd",
        "2",
        "Content-Length",
        "0",
        "Connection",
        "keep-alive",
      ],
    },
  ]);
  expect(answer.status).toBe(418);
  expect(answer.headers.slice(0, 6)).toEqual(["X-MiXed", "a", "Set-Cookie", "b=1", "Set-Cookie", "c=2"]);
});

test("trailers, informational responses, HEAD, 204 and a request for permission to continue pass", async () => {
  const seen: string[] = [];
  handle = (request, response) => {
    if (request.url === "/head") return void response.writeHead(200, { "content-length": 1234 }).end();
    if (request.url === "/none") return void response.writeHead(204).end();
    if (request.headers.expect === "100-continue") {
      seen.push("asked");
      response.writeContinue();
    }
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    void bodyOf(request).then((body) => {
      seen.push(`${body.toString()} ${request.rawTrailers.join("=")}`);
      response.writeHead(200, { trailer: "X-Sum" });
      response.write("body");
      response.addTrailers({ "X-Sum": "42" });
      response.end();
    });
  };
  const headers = { expect: "100-continue", trailer: "X-Sent", "transfer-encoding": "chunked" };
  const request = httpRequest(`${proxy.address(route)}/all`, { method: "POST", headers, agent: false });
  const hints: number[] = [];
  request.on("information", ({ statusCode }) => hints.push(statusCode));
  request.flushHeaders();
  await once(request, "continue");
  request.write("hello");
  request.addTrailers({ "X-Sent": "1" });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(String(Buffer.concat(await response.toArray()))).toBe("body");
  expect(response.rawTrailers).toEqual(["X-Sum", "42"]);
  expect(seen).toEqual(["asked", "hello X-Sent=1"]);
  expect(hints).toContain(103);
  const head = await ask(`${proxy.address(route)}/head`, { method: "HEAD" });
  expect([head.status, head.headers.slice(0, 2), head.body.length]).toEqual([200, ["content-length", "1234"], 0]);
  expect(await ask(`${proxy.address(route)}/none`)).toMatchObject({ status: 204, body: Buffer.alloc(0) });
});

test("compression passes as it is and is decoded for the record", async () => {
  const text = `{"text":"${"äöü€😀 ".repeat(500)}"}`;
  const packed = gzipSync(text);
  handle = (_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" });
    for (let at = 0; at < packed.length; at += 7) response.write(packed.subarray(at, at + 7));
    response.end();
  };
  const answer = await ask(`${proxy.address(route)}/packed`, { headers: { "accept-encoding": "gzip" } });
  expect(answer.body).toEqual(packed);
  expect(toldBody(await proxy.recorded("/packed"), "model").toString()).toBe(text);
});

test("an upstream may answer before it has read the request", async () => {
  handle = (request, response) => {
    response.writeHead(413, { connection: "close" }).end("too large");
    request.resume();
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const pieces = [randomBytes(10_000), randomBytes(10_000)];
  const answer = await ask(`${proxy.address(route)}/large`, { method: "POST", agent, pieces });
  expect([answer.status, answer.body.toString()]).toEqual([413, "too large"]);
  agent.destroy();
});

test("a thousand requests side by side each get their own answer", async () => {
  handle = async (request, response) => {
    const body = await bodyOf(request);
    setTimeout(() => response.end(`${request.url} ${body.toString()}`), 20);
  };
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) =>
      ask(`${proxy.address(route)}/${n}`, { method: "POST", pieces: [Buffer.from(`body ${n}`)] }),
    ),
  );
  expect(answers.map(({ body }) => body.toString())).toEqual(
    Array.from({ length: 1_000 }, (_, n) => `/${n} body ${n}`),
  );
});

test("a large body passes both ways, and the proxy's memory stays bounded", async () => {
  const megabytes = Number(process.env["REEVE_TEST_BODY_MB"] ?? 30);
  const other = await startTestProxy({ asProgram: true });
  const pid = other.child?.pid ?? 0;
  const memory = (): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
  try {
    const block = randomBytes(1_048_576);
    let received = 0;
    handle = (request, response) => {
      request.on("data", (part: Buffer) => (received += part.length));
      request.on("end", () => void response.end());
      request.pipe(response);
    };
    const large = await other.route({ api: upstream.url });
    await ask(`${other.address(large)}/warm`, { method: "POST", pieces: [block] });
    const before = memory();
    received = 0;
    const request = httpRequest(`${other.address(large)}/big`, { method: "POST", agent: false });
    const answered = once(request, "response").then(async ([response]: IncomingMessage[]) => {
      let length = 0;
      for await (const part of response ?? []) length += (part as Buffer).length;
      return length;
    });
    for (let n = 0; n < megabytes; n += 1) if (!request.write(block)) await once(request, "drain");
    request.end();
    expect(await answered).toBe(megabytes * block.length);
    expect(received).toBe(megabytes * block.length);
    // The copy may have some tens of megabytes, whatever the body has.
    const grown = memory() - before;
    if (megabytes >= 200) console.log(`${megabytes} MB each way: the proxy grew by ${Math.round(grown)} MB`);
    expect(grown).toBeLessThan(Math.max(120, megabytes));
    await eventually("it is recorded", () =>
      other.lines().some(({ kind, request_bytes }) => kind === "end" && request_bytes === received),
    );
  } finally {
    await other.dispose();
  }
});
