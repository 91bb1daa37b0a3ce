/** Websockets pass as they are, and their messages are in the record. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { eventually } from "../support/eventually.ts";
import { createFrameReader } from "../../src/capture/websocket-frames.ts";
import type { Route } from "../../src/capture/proxy/contract.ts";
import { type Line, serving, startTestProxy, type TestProxy, type TestUpstream } from "./proxy-fixture.ts";

const SECRET = "ws-s3cr3t-value-0123456789";
let proxy: TestProxy;
let upstream: TestUpstream;
let route: Route;
let compression: boolean | object = false;
let count = 0;

beforeAll(async () => {
  proxy = await startTestProxy();
  const server = createServer();
  server.on("upgrade", (request, socket: Socket, head) => {
    if (request.url === "/refused")
      return void socket.end("HTTP/1.1 401 Unauthorized\r\nx-why: no\r\ncontent-length: 4\r\n\r\nnope");
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: compression });
    sockets.handleUpgrade(request, socket, head, (each) => {
      each.on("message", (data, isBinary) => each.send(data, { binary: isBinary }));
      each.send(JSON.stringify({ type: "message_start", message: { model: "m-1", usage: { input_tokens: 3 } } }));
    });
  });
  upstream = await serving(server, "http");
  route = await proxy.route({ api: upstream.url }, { secrets: [SECRET], limitMessages: ["own.limits"] });
});
afterAll(async () => {
  await proxy.dispose();
  await upstream.close();
});

async function conversation(options: object, texts: readonly (string | Buffer)[]): Promise<Line[]> {
  const path = `/v1?n=${(count += 1)}`;
  const socket = new WebSocket(`${proxy.address(route).replace("http", "ws")}${path}`, options);
  const received: (string | Buffer)[] = [];
  socket.on("message", (data: Buffer, isBinary) => received.push(isBinary ? data : data.toString()));
  await once(socket, "open");
  for (const text of texts) socket.send(text);
  await eventually("all come back", () => received.length === texts.length + 1);
  expect(received.slice(1)).toEqual(texts);
  socket.close(1000, "done");
  await once(socket, "close");
  return proxy.recorded(path);
}

const TEXTS = ["hello", "x".repeat(200_000), `{"key":"${SECRET}"}`, Buffer.from([0xff, 0x00, 0xfe]), "hello", "äöü😀"];

test.each([
  ["without compression", { perMessageDeflate: false }, false],
  ["with compression", { perMessageDeflate: { threshold: 0 } }, { threshold: 0 }],
  [
    "with compression that begins anew each time",
    { perMessageDeflate: { threshold: 0, serverNoContextTakeover: true, clientNoContextTakeover: true } },
    { threshold: 0, serverNoContextTakeover: true, clientNoContextTakeover: true },
  ],
])("messages %s pass and are recorded one by one, without the secret", async (_how, options, offered) => {
  compression = offered;
  const lines = await conversation(options, TEXTS);
  expect(lines.slice(0, 2)).toMatchObject([
    { kind: "request", method: "GET", url: `${upstream.url}/v1?n=${count}`, body: "" },
    { kind: "response-head", status: 101 },
  ]);
  const of = (from: string): unknown[] =>
    lines.filter((line) => line["from"] === from && Number(line["opcode"]) < 8).map(({ body }) => body);
  const safe = of("agent");
  expect(safe.map((text) => String(text).replace(/redacted [0-9a-f]{6}/, "redacted"))).toEqual([
    ...TEXTS.slice(0, 2),
    '{"key":"[redacted]"}',
    "/wD+",
    ...TEXTS.slice(4),
  ]);
  expect(of("model").slice(1)).toEqual(safe);
  expect(lines.at(-1)).toMatchObject({
    kind: "end",
    status: 101,
    model: "m-1",
    usage: { input_tokens: 3, output_tokens: null, cached_tokens: null },
  });
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test("a message that tells of limits is observed, without the secret; what only looks like one is not", async () => {
  const told = JSON.stringify({ type: "own.limits", used: 83, note: SECRET });
  const others = [JSON.stringify({ type: "text", text: '"own.limits"' }), '"own.limits"', "x".repeat(70_000)];
  await conversation({ perMessageDeflate: false }, [...others, told]);
  const found = await eventually("it is observed", () =>
    proxy.observed.find(({ observed }) => observed === "limit-message"),
  );
  expect(found).toMatchObject({ sessionId: route.sessionId, exchange: expect.any(String) as string });
  expect(JSON.stringify(found)).toContain("83");
  expect(JSON.stringify(found)).not.toContain(SECRET);
  expect(proxy.observed.filter(({ observed }) => observed === "limit-message")).toHaveLength(1);
});

test("a proxy that is stopped does not wait for websockets, and records that it cut them", async () => {
  compression = false;
  const other = await startTestProxy({ asProgram: true });
  const its = await other.route({ api: upstream.url });
  const socket = new WebSocket(`${other.address(its).replace("http", "ws")}/open`);
  socket.on("error", () => undefined);
  await once(socket, "open");
  const closed = once(socket, "close");
  await other.control.stop();
  await other.control.closed;
  await closed;
  expect((await other.recorded("/open")).at(-1)).toMatchObject({ kind: "end", outcome: "proxy-stopped" });
  await eventually("it has ended", () => other.child?.exitCode === 0);
  await other.dispose();
});

test("an upgrade that is refused is refused as it was", async () => {
  const socket = new WebSocket(`${proxy.address(route).replace("http", "ws")}/refused`);
  socket.on("error", () => undefined);
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  expect([response.statusCode, response.headers["x-why"]]).toEqual([401, "no"]);
  expect(String(Buffer.concat(await response.toArray()))).toBe("nope");
});

test("bytes pass as they are, whatever they are, and a reset is a reset", async () => {
  compression = false;
  const sockets: Socket[] = [];
  const raw = createServer();
  raw.on("upgrade", (_request, socket: Socket, head: Buffer) => {
    sockets.push(socket);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nat once");
    if (head.length > 0) socket.write(head);
    socket.on("data", (bytes: Buffer) => void socket.write(bytes));
    socket.on("error", () => undefined);
  });
  const odd = await serving(raw, "http");
  const its = await proxy.route({ api: odd.url });
  const socket = connect(proxy.port, "127.0.0.1");
  const head = `GET /${its.key}/api/x HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\n`;
  socket.write(`${head}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\nearly`);
  let got = "";
  socket.on("data", (bytes: Buffer) => (got += bytes.toString("latin1")));
  const noise = Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256));
  await eventually("the upgrade passes", () => got.endsWith("early"));
  expect(got).toContain("\r\n\r\nat once");
  got = "";
  socket.write(noise);
  await eventually("it comes back", () => got.length === noise.length);
  expect(Buffer.from(got, "latin1")).toEqual(noise);
  const broken = once(socket, "error") as Promise<[NodeJS.ErrnoException]>;
  sockets[0]?.resetAndDestroy();
  expect((await broken)[0].code).toBe("ECONNRESET");
  await odd.close();
});

test("frames are read however the bytes are cut, masked or not, with control frames between", () => {
  const frame = (opcode: number, isLast: boolean, payload: Buffer, mask: Buffer | null): Buffer => {
    const length = payload.length;
    const size = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [];
    const second = [(size[0] ?? 127) | (mask === null ? 0 : 0x80), ...size.slice(1)];
    const body = mask === null ? payload : payload.map((byte, index) => byte ^ (mask[index & 3] ?? 0));
    return Buffer.concat([Buffer.from([opcode | (isLast ? 0x80 : 0), ...second]), mask ?? Buffer.alloc(0), body]);
  };
  const part = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(part, part, fc.boolean()), { maxLength: 6 }),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      (messages, key, sizes) => {
        const wire = Buffer.concat(
          messages.map(([first, second, isMasked]) => {
            const mask = isMasked ? Buffer.from(key) : null;
            const ping = frame(9, true, Buffer.from("p"), mask);
            const [one, two] = [Buffer.from(first), Buffer.from(second)];
            return Buffer.concat([frame(2, false, one, mask), ping, frame(0, true, two, mask)]);
          }),
        );
        const reader = createFrameReader();
        const read: Buffer[] = [];
        for (let at = 0, n = 0; at < wire.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          for (const { opcode, payload } of reader.push(wire.subarray(at, at + size)))
            if (opcode === 2 && payload !== null) read.push(payload);
          at += size;
        }
        expect(read).toEqual(messages.map(([first, second]) => Buffer.concat([first, second])));
      },
    ),
  );
});
