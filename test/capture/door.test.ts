/** The door of a route: the same proxy over a unix socket, by what carries to it; nothing is recorded without a directory. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Route } from "../../src/capture/proxy/contract.ts";
import { carrierCommand } from "../../src/runtime/boxed/passage-carrier.ts";
import { eventually } from "../support/eventually.ts";
import { ask, bodyOf, startTestProxy, startUpstream, type TestProxy, type TestUpstream } from "./proxy-fixture.ts";

let proxy: TestProxy;
let upstream: TestUpstream;
let carrier: ChildProcess;
let route: Route;
let port: number;

beforeEach(async () => {
  proxy = await startTestProxy();
  upstream = await startUpstream(async (incoming, outgoing) => {
    const body = await bodyOf(incoming);
    outgoing.writeHead(200, { "x-hash": createHash("sha256").update(body).digest("hex") });
    outgoing.end(body);
  });
  upstream.server.on("upgrade", (_incoming, socket: Duplex) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    socket.on("error", () => undefined);
    socket.pipe(socket);
  });
  const door = join(proxy.root, "d", "s");
  mkdirSync(join(proxy.root, "d"), { mode: 0o700 });
  route = await proxy.route({ api: upstream.url }, { door, directory: null });
  port = await freePort();
  const [shell, ...args] = carrierCommand("perl", port, door);
  carrier = spawn(shell, args, { stdio: "ignore" });
  const at = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
  await eventually("it listens", () => readFileSync("/proc/net/tcp", "utf8").includes(at));
});
afterEach(async () => {
  carrier.kill("SIGKILL");
  if (carrier.exitCode === null && carrier.signalCode === null) await once(carrier, "exit");
  await upstream.close();
  await proxy.dispose();
});

/** As in a container, where the carrier has the proxy's own port. */
const headers = (): Record<string, string> => ({ host: `127.0.0.1:${proxy.port}` });
const address = (key = route.key): string => `http://127.0.0.1:${port}/${key}/api`;

test("a large body passes both ways byte for byte, and nothing of it is kept", async () => {
  const body = randomBytes(16 * 1_048_576);
  const answer = await ask(`${address()}/x`, { method: "POST", headers: headers(), pieces: [body] });
  const hash = createHash("sha256").update(body).digest("hex");
  expect(answer.status).toBe(200);
  expect(createHash("sha256").update(answer.body).digest("hex")).toBe(hash);
  expect(answer.headers).toContain(hash);
  expect((await proxy.control.status()).routes).toMatchObject([{ exchanges: 1, droppedLines: 0, outage: null }]);
  expect(readdirSync(proxy.directory)).toEqual([]);
});

test("a websocket passes byte for byte", async () => {
  const upgrade = { ...headers(), connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const request = httpRequest(`${address()}/live`, { headers: upgrade, agent: false });
  request.end();
  const [, socket] = (await once(request, "upgrade")) as [unknown, Duplex];
  const sent = randomBytes(1_048_576);
  const parts: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => parts.push(bytes));
  socket.write(sent);
  await eventually("all of it came back", () => Buffer.concat(parts).length === sent.length);
  expect(Buffer.concat(parts).equals(sent)).toBe(true);
  socket.destroy();
});

test("another route's key is refused there, and the socket goes with its route", async () => {
  const other = await proxy.route({ api: upstream.url });
  expect((await ask(`${address(other.key)}/x`, { headers: headers() })).status).toBe(404);
  expect((await ask(`${proxy.address(other)}/x`)).status).toBe(200);
  expect(statSync(route.door ?? "").mode & 0o777).toBe(0o600);
  await proxy.control.unregister(route.key);
  await eventually("the door is gone", () => readdirSync(join(proxy.root, "d")).length === 0);
  expect(await isOpen(route.door ?? "")).toBe(false);
});

test("a flood of connections to a door is bounded, and the port serves others meanwhile", async () => {
  const other = await proxy.route({ api: upstream.url });
  let closed = 0;
  const flood = Array.from({ length: 400 }, () => {
    const socket = connect(route.door ?? "");
    socket.on("error", () => undefined);
    socket.once("close", () => (closed += 1));
    return socket;
  });
  await eventually("those beyond the bound are closed", () => closed >= 400 - 128);
  expect((await ask(`${proxy.address(other)}/x`)).status).toBe(200);
  for (const socket of flood) socket.destroy();
  await eventually("it serves again", async () => {
    const answer = await ask(`${address()}/x`, { headers: headers() }).catch(() => null);
    return answer?.status === 200;
  });
});

function isOpen(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return free;
}
