import { chmodSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "./create-client.ts";
import { createFixture, stopServer } from "./client-fixture.ts";
import type { Fixture } from "./client-fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = createFixture();
});
afterEach(() => fixture.close());

describe("a call", () => {
  it("sends what the operation takes and gives what it answers", async () => {
    let seen: object = {};
    await fixture.serve((request, response) => {
      let body = "";
      request.on("data", (bytes: Buffer) => (body += bytes.toString()));
      request.on("end", () => {
        const { host, "content-type": type, "idempotency-key": key } = request.headers;
        seen = { method: request.method, url: request.url, host, type, hasKey: typeof key === "string", body };
        response.end(JSON.stringify({ done: true }));
      });
    });
    expect(await fixture.client.pauseSession({ session: "añb", suspend: true })).toEqual({ done: true });
    expect(seen).toEqual({
      method: "POST",
      url: "/v1/sessions/a%C3%B1b/pause",
      host: "localhost",
      type: "application/json",
      hasKey: true,
      body: '{"suspend":true}',
    });
  });

  it("throws the daemon's own error", async () => {
    await fixture.serve((_, response) => {
      response.writeHead(404, { "content-type": "application/problem+json" });
      response.end(
        JSON.stringify({
          status: 404,
          detail: 'There is no session "x".',
          code: "unknown-session",
          kind: "not-found",
          details: { nearest: ["y"] },
        }),
      );
    });
    await expect(fixture.client.getSession({ session: "x" })).rejects.toMatchObject({
      name: "ReeveError",
      code: "unknown-session",
      kind: "not-found",
      message: 'There is no session "x".',
      details: { nearest: ["y"] },
      exitStatus: 1,
    });
  });

  it("explains an answer that is no explanation", async () => {
    await fixture.serve((_, response) => void response.writeHead(502).end("<html>"));
    await expect(fixture.client.daemonStatus()).rejects.toMatchObject({ code: "unexpected-answer" });
  });

  it("repeats a change, with the same key, when the daemon died over it", async () => {
    const keys: unknown[] = [];
    await fixture.serve((request, response) => {
      keys.push(request.headers["idempotency-key"]);
      if (keys.length === 1) request.socket.destroy();
      else response.end('{"done":true}');
    });
    expect(await fixture.client.resumeSession({ session: "x" })).toEqual({ done: true });
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it("repeats what a daemon that could not read for a while took for late", async () => {
    let calls = 0;
    await fixture.serve((_, response) => {
      calls += 1;
      if (calls > 1) return void response.end('{"done":true}');
      const problem = {
        code: "request-late",
        kind: "usage",
        detail: "The request did not arrive in time; send it again.",
      };
      response.writeHead(408, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
    });
    expect(await fixture.client.resumeSession({ session: "x" })).toEqual({ done: true });
    expect(calls).toBe(2);
  });

  it("gives up on a daemon that dies over it again and again, and always gave the same key", async () => {
    const keys: unknown[] = [];
    await fixture.serve((request) => {
      keys.push(request.headers["idempotency-key"]);
      request.socket.destroy();
    });
    await expect(fixture.client.resumeSession({ session: "x" })).rejects.toMatchObject({
      code: "daemon-lost",
      exitStatus: 69,
      // Whoever repeats it later, with another call, brings the key again.
      details: { idempotency_key: expect.stringMatching(/^[0-9a-f-]{36}$/) as string },
    });
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
  });

  it("was not made where the daemon itself refused it: no key is told", async () => {
    await fixture.serve((_request, response) => {
      const problem = { code: "disk-full", kind: "unavailable", detail: "The disk is full.", details: {} };
      response.writeHead(503, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
    });
    const error: unknown = await fixture.client.resumeSession({ session: "x" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "disk-full", exitStatus: 69, details: {} });
    expect((error as { details: object }).details).not.toHaveProperty("idempotency_key");
  });

  it("is the same change again when its caller brings the key that the error told", async () => {
    const keys: unknown[] = [];
    let isDying = true;
    await fixture.serve((request, response) => {
      keys.push(request.headers["idempotency-key"]);
      if (isDying) request.socket.destroy();
      else response.end('{"done":true}');
    });
    const error: unknown = await fixture.client.resumeSession({ session: "x" }).catch((thrown: unknown) => thrown);
    const { details } = error as { details: { idempotency_key: string } };
    isDying = false;
    await fixture.client.resumeSession({ session: "x" }, { idempotencyKey: details.idempotency_key });
    expect(new Set(keys).size).toBe(1);
  });

  it("survives more deaths in a row than a few", async () => {
    let calls = 0;
    await fixture.serve((request, response) => {
      calls += 1;
      if (calls < 6) request.socket.destroy();
      else response.end('{"sessions":[],"cursor":1}');
    });
    const client = createClient({ socketPath: fixture.socketPath }, { daemonCommand: () => [], environment: {} });
    expect(await client.listSessions()).toEqual({ sessions: [], cursor: 1 });
  });

  it("asks again when the daemon that took it is about to stop", async () => {
    let calls = 0;
    await fixture.serve((_, response) => {
      calls += 1;
      if (calls > 1) return void response.end('{"done":true}');
      response.writeHead(503, { "content-type": "application/problem+json" });
      response.end(
        JSON.stringify({ status: 503, detail: "x", code: "store-closed", kind: "unavailable", details: {} }),
      );
    });
    expect(await fixture.client.resumeSession({ session: "x" })).toEqual({ done: true });
  });

  it("asks again when an answer broke off in its middle", async () => {
    let calls = 0;
    await fixture.serve((request, response) => {
      calls += 1;
      if (calls > 1) return void response.end('{"sessions":[],"cursor":7}');
      response.writeHead(200, { "content-length": 1000 });
      response.write('{"sessions":');
      setTimeout(() => request.socket.destroy(), 5);
    });
    expect(await fixture.client.listSessions()).toEqual({ sessions: [], cursor: 7 });
  });

  it("reads answers in chunks", async () => {
    await fixture.serve((_, response) => {
      response.write('{"sessions":[],');
      setTimeout(() => response.end('"cursor":1}'), 5);
    });
    expect(await fixture.client.listSessions({ all: true })).toEqual({ sessions: [], cursor: 1 });
  });

  it("asks to stop only once: a daemon that went away has stopped", async () => {
    let calls = 0;
    await fixture.serve((request) => {
      calls += 1;
      request.socket.destroy();
    });
    await expect(fixture.client.stopDaemon()).rejects.toMatchObject({ code: "daemon-lost" });
    expect(calls).toBe(1);
  });

  it("gives up when its caller does", async () => {
    await fixture.serve(() => undefined);
    await expect(fixture.client.daemonStatus({ signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      code: "aborted",
    });
  });
});

describe("a daemon that is not there", () => {
  it("is said to be stopped when its socket is missing, dead when it is left behind", async () => {
    await expect(fixture.client.daemonStatus()).rejects.toMatchObject({
      code: "daemon-not-running",
      details: { socket: "missing" },
    });
    const server = await fixture.serve(() => undefined);
    await stopServer(server);
    await expect(fixture.client.daemonStatus()).rejects.toMatchObject({ code: "daemon-not-running", exitStatus: 69 });
  });

  it("is not looked for in a directory that others can reach", async () => {
    await fixture.serve((_, response) => void response.end("{}"));
    chmodSync(fixture.directory, 0o755);
    await expect(fixture.client.daemonStatus()).rejects.toMatchObject({ code: "home-not-private", exitStatus: 78 });
  });
});
