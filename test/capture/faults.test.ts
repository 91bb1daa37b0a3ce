/** What goes wrong upstream, in the agent or in the proxy itself looks to the agent as it was. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { Agent, createServer as createHttp, type IncomingMessage, request as httpRequest } from "node:http";
import { createServer as createHttps } from "node:https";
import { connect, createServer as createTcp, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Route } from "../../src/capture/proxy/contract.ts";
import {
  ask,
  bodyOf,
  type Handler,
  makeRoot,
  serving,
  startTestProxy,
  startUpstream,
  type TestProxy,
  type TestUpstream,
} from "./proxy-fixture.ts";

let proxy: TestProxy;
let upstream: TestUpstream;
let route: Route;
let handle: Handler;

beforeAll(async () => {
  proxy = await startTestProxy();
  upstream = await startUpstream((request, response) => handle(request, response));
  route = await proxy.route({ api: upstream.url });
});
afterEach(() => {
  handle = (_request, response) => void response.end();
});
afterAll(async () => {
  await proxy.dispose();
  await upstream.close();
});

const endings = (): unknown[] => proxy.lines().flatMap((line) => (line.kind === "end" ? [line["outcome"]] : []));

async function begun(path: string): Promise<IncomingMessage> {
  const request = httpRequest(`${proxy.address(route)}${path}`, { agent: false });
  request.on("error", () => undefined);
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

test("a reset in the middle of a stream is a reset for the agent, after what came before it", async () => {
  const sockets: Socket[] = [];
  handle = (request, response) => {
    sockets.push(request.socket);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\n\n");
  };
  const response = await begun("/reset");
  expect(String((await once(response, "data"))[0])).toBe("data: first\n\n");
  const broken = once(response, "error") as Promise<[NodeJS.ErrnoException]>;
  sockets[0]?.resetAndDestroy();
  expect((await broken)[0].code).toBe("ECONNRESET");
  await eventually("it is recorded", () => endings().includes("upstream-reset"));
});

test("an end that comes too soon is none for the agent either", async () => {
  handle = (request, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("half");
    setImmediate(() => request.socket.end());
  };
  const response = await begun("/short");
  response.resume();
  await once(response, "error");
  expect(response.complete).toBe(false);
});

test("a reset before any answer is a reset, and the next request is served", async () => {
  handle = (request) => request.socket.resetAndDestroy();
  await expect(ask(`${proxy.address(route)}/early`)).rejects.toMatchObject({ code: "ECONNRESET" });
  handle = (_request, response) => void response.end("well");
  expect((await ask(`${proxy.address(route)}/again`)).body.toString()).toBe("well");
});

test("a stall is a stall, and goes on when the upstream does; an agent that leaves is gone for the upstream", async () => {
  const held: { write(text: string): void }[] = [];
  const left: string[] = [];
  handle = (_request, response) => {
    response.write("before ");
    held.push(response);
    response.on("close", () => left.push("closed"));
  };
  const response = await begun("/stall");
  expect(String((await once(response, "data"))[0])).toBe("before ");
  held[0]?.write("after");
  expect(String((await once(response, "data"))[0])).toBe("after");
  response.destroy();
  await eventually("the upstream sees it", () => left.length > 0);
  await eventually("it is recorded", () => endings().includes("agent-left"));
});

test("an agent that leaves while it waits for an answer, or within its request, is gone for the upstream", async () => {
  let open = 0;
  handle = (request) => {
    open += 1;
    request.on("error", () => undefined);
    request.socket.once("close", () => (open -= 1));
    request.resume();
  };
  const waits = httpRequest(`${proxy.address(route)}/waits`, { agent: false }).end();
  const sends = httpRequest(`${proxy.address(route)}/sends`, { method: "POST", agent: false });
  sends.write("a part");
  for (const request of [waits, sends]) request.on("error", () => undefined);
  await eventually("both arrive", () => open === 2);
  waits.destroy();
  sends.destroy();
  await eventually("both are gone", () => open === 0);
});

test("an upstream that closes an idle connection closes the agent's, too", async () => {
  handle = (_request, response) => void response.end("x");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await ask(`${proxy.address(route)}/first`, { agent });
  const [socket] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
  expect(socket).toBeDefined();
  upstream.server.closeIdleConnections();
  await eventually("it is closed", () => socket?.destroyed === true);
  agent.destroy();
});

test("an upstream that is not there, has no such name or does not speak HTTP is a 502 with the reason", async () => {
  const garbage = createTcp((socket) => void socket.end("this is no HTTP\r\n\r\n"));
  garbage.listen(0, "127.0.0.1");
  await once(garbage, "listening");
  const { port } = garbage.address() as { port: number };
  const closed = createTcp();
  closed.listen(0, "127.0.0.1");
  await once(closed, "listening");
  const gone = (closed.address() as { port: number }).port;
  closed.close();
  const odd = await proxy.route({
    api: `http://127.0.0.1:${gone}`,
    nowhere: "http://no-such-host.invalid",
    garbage: `http://127.0.0.1:${port}`,
  });
  const answers = await Promise.all(["api", "nowhere", "garbage"].map((name) => ask(`${proxy.address(odd, name)}/v1`)));
  const told = answers.map(({ status, body }) => [status, (JSON.parse(body.toString()) as Failure).error.code]);
  expect(told).toEqual([
    [502, "upstream-unreachable"],
    [502, "upstream-unknown-host"],
    [502, "upstream-unreadable"],
  ]);
  await eventually(
    "the daemon hears of it",
    () => proxy.observed.filter(({ observed }) => observed === "upstream-failed").length === 3,
  );
  garbage.close();
});

interface Failure {
  readonly error: { readonly code: string; readonly message: string };
}

test("kill -9 in the middle of a response resets it; the next proxy serves the same address", async () => {
  const root = makeRoot();
  const first = await startTestProxy({ root, asProgram: true });
  try {
    handle = (request, response) => {
      if (request.url === "/again") return void response.end("served");
      response.write("begun");
    };
    const its = await first.route({ api: upstream.url });
    const request = httpRequest(`${first.address(its)}/cut`, { agent: false }).end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await once(response, "data");
    const broken = once(response, "error") as Promise<[NodeJS.ErrnoException]>;
    first.child?.kill("SIGKILL");
    expect((await broken)[0].code).toBe("ECONNRESET");
    await first.control.closed;
    const second = await startTestProxy({ root, asProgram: true, port: first.port });
    try {
      expect(second.port).toBe(first.port);
      await second.control.register(its);
      expect((await ask(`${first.address(its)}/again`)).body.toString()).toBe("served");
      const lines = await second.ended();
      const numbers = lines.map(({ seq }) => Number(seq));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(new Set(numbers).size).toBe(numbers.length);
    } finally {
      await second.dispose();
    }
  } finally {
    await first.dispose();
    rmSync(root, { recursive: true, force: true });
  }
});

test("a second proxy for the same home says that one runs; one that is stopped records what it cut", async () => {
  const other = await startTestProxy({ asProgram: true });
  await expect(startTestProxy({ root: other.root, port: other.port })).rejects.toThrow(/answers at/);
  handle = (_request, response) => void response.write("begun");
  const its = await other.route({ api: upstream.url });
  const request = httpRequest(`${other.address(its)}/cut`, { agent: false }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  await once(response, "data");
  await other.control.stop();
  await other.control.closed;
  const [end] = await other.ended();
  expect(end).toBeDefined();
  expect(other.lines().at(-1)).toMatchObject({ kind: "end", outcome: "proxy-stopped" });
  await other.dispose();
});

const hasOpenssl = ((): boolean => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasOpenssl)("with TLS", () => {
  let root: string;
  let secure: TestUpstream;

  beforeAll(async () => {
    root = makeRoot();
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const files = ["-keyout", join(root, "key.pem"), "-out", join(root, "cert.pem")];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...files], {
      stdio: "ignore",
    });
    const server = createHttps(
      { key: readFileSync(join(root, "key.pem")), cert: readFileSync(join(root, "cert.pem")) },
      (_request, response) => void response.end("over TLS"),
    );
    secure = await serving(server, "https");
  });
  afterAll(async () => {
    await secure.close();
    rmSync(root, { recursive: true, force: true });
  });
  const network = { httpProxy: null, httpsProxy: null, noProxy: null, caFile: null };

  test("a certificate that nobody signed is refused with the reason, and accepted with its file", async () => {
    const strict = await proxy.route({ api: secure.url });
    const refused = await ask(`${proxy.address(strict)}/v1`);
    expect(refused.status).toBe(502);
    const { error } = JSON.parse(refused.body.toString()) as Failure;
    expect(error.code).toBe("upstream-certificate");
    expect(error.message).toMatch(/self-signed/);
    const trusting = await proxy.route(
      { api: secure.url, named: `https://localhost:${secure.port}` },
      { network: { ...network, caFile: join(root, "cert.pem") } },
    );
    expect((await ask(`${proxy.address(trusting)}/v1`)).body.toString()).toBe("over TLS");
    expect((await ask(`${proxy.address(trusting, "named")}/v1`)).body.toString()).toBe("over TLS");
  });

  test("the user's proxy is asked: by CONNECT for https, by the whole address for http, unless NO_PROXY says", async () => {
    const asked: string[] = [];
    const userProxy = createHttp((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
      void bodyOf(request).then(() => response.end("by the proxy"));
    });
    userProxy.on("connect", (request: IncomingMessage, socket: Socket) => {
      asked.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"]}`);
      const onward = connect(secure.port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
    });
    const between = await serving(userProxy, "http");
    const address = between.url.replace("http://", "http://user:pass@");
    const by = {
      httpProxy: address,
      httpsProxy: address,
      noProxy: "example.com, .exempt.invalid",
      caFile: join(root, "cert.pem"),
    };
    const upstreams = { api: `https://localhost:${secure.port}`, plain: "http://somewhere.invalid/base" };
    const its = await proxy.route(upstreams, { network: by });
    expect((await ask(`${proxy.address(its)}/v1`)).body.toString()).toBe("over TLS");
    expect((await ask(`${proxy.address(its, "plain")}/v1?x`)).body.toString()).toBe("by the proxy");
    const credentials = `Basic ${Buffer.from("user:pass").toString("base64")}`;
    expect(asked).toEqual([
      `CONNECT localhost:${secure.port} ${credentials}`,
      `GET http://somewhere.invalid/base/v1?x ${credentials}`,
    ]);
    const exempt = await proxy.route(upstreams, { network: { ...by, noProxy: "localhost" } });
    expect((await ask(`${proxy.address(exempt)}/v1`)).body.toString()).toBe("over TLS");
    expect(asked).toHaveLength(2);
    await between.close();
  });
});
