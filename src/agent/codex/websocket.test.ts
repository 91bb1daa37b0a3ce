/**
 * What a server does costs at most its own connection, and the reason that is
 * told says what happened. The server is written out
 * in bytes: it breaks the rules.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { connectWebSocket } from "./websocket.ts";

let directory: string;
let server: Server;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-ws-"));
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true });
});

/** Accepts the upgrade, and then does what it is told; what comes with the answer is in the same packet. */
async function serve(then: (socket: Socket) => void, withAnswer = Buffer.alloc(0), name = "s"): Promise<string> {
  const path = join(directory, name);
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      const key = /sec-websocket-key: (\S+)/i.exec(bytes.toString("latin1"))?.[1] ?? "";
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const answer = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(answer), withAnswer]), () => then(socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

test("a server that dies right after the upgrade, while the first message is sent", async () => {
  const path = await serve((socket) => socket.destroy());
  for (let round = 0; round < 50; round++) {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<string>();
    const link = await connectWebSocket(path, { onMessage: () => undefined, onClose });
    // As the first call does: before anything else of this connection is heard.
    for (let message = 0; message < 20; message++) link.send("x".repeat(100_000));
    expect(await closed).not.toBe("");
  }
});

test("a message that its reader cannot read ends the connection", async () => {
  const path = await serve((socket) => socket.write(Buffer.from("\x81\x06poison", "latin1")));
  const { promise: closed, resolve: onClose } = Promise.withResolvers<string>();
  await connectWebSocket(path, {
    onMessage: () => {
      throw new Error("it makes no sense");
    },
    onClose,
  });
  expect(await closed).toBe("a message could not be read: it makes no sense");
});

/** A frame as a server writes it: not masked. Its payload is short. */
function frame(opcode: number, payload: string, isFinal = true): Buffer {
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, payload.length]), Buffer.from(payload, "latin1")]);
}

const TOO_LONG = Buffer.from([0x81, 127, 0, 0, 0, 0, 4, 0, 0, 1]);

test.each([
  ["a close with a reason", frame(8, "\x03\xe9bye"), "the server closed the connection (1001: bye)"],
  ["a close with a code", frame(8, "\x03\xe8"), "the server closed the connection (1000)"],
  ["a close without a code", frame(8, ""), "the server closed the connection"],
  ["more than 64 MiB announced", TOO_LONG, "the server broke the protocol: Max payload size exceeded"],
  ["a fragment of nothing", frame(0, "x"), "the server broke the protocol: Invalid WebSocket frame: invalid opcode 0"],
  ["bytes", frame(2, "x"), "a message could not be read: it is not text"],
])("%s: the connection ends and says so; what follows is not read", async (_name, bytes, why) => {
  const path = await serve((socket) => socket.write(Buffer.concat([bytes, frame(1, "after")])));
  const { promise: closed, resolve: onClose } = Promise.withResolvers<string>();
  const messages: string[] = [];
  await connectWebSocket(path, { onMessage: (text) => messages.push(text), onClose });
  expect({ why: await closed, messages }).toEqual({ why, messages: [] });
});

test("what comes in the packet of the upgrade is heard, and not before the caller has the link", async () => {
  const first = Buffer.concat([frame(1, "a", false), frame(9, "?"), frame(0, "b"), frame(1, "c")]);
  // A path is a path: nothing in it is read as part of an address.
  const path = await serve(() => undefined, first, "a b:%41?#");
  const heard: { readonly text: string; readonly hadLink: boolean }[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let hadLink = false;
  const link = await connectWebSocket(path, {
    onMessage: (text) => {
      heard.push({ text, hadLink });
      if (heard.length === 2) resolve();
    },
    onClose: () => resolve(),
  });
  hadLink = true;
  await promise;
  link.close();
  expect(heard).toEqual([
    { text: "ab", hadLink: true },
    { text: "c", hadLink: true },
  ]);
});

test("messages of some megabytes arrive whole in both directions", async () => {
  const path = join(directory, "s");
  server = createHttpServer();
  const echo = new WebSocketServer({ server: server as HttpServer });
  echo.on("connection", (peer) => peer.on("message", (data, isBinary) => peer.send(data, { binary: isBinary })));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const sent = ["", "é".repeat(65_000), "x".repeat(6_000_000)];
  const heard: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const link = await connectWebSocket(path, {
    onMessage: (text) => {
      heard.push(text);
      if (heard.length === sent.length) resolve("all");
    },
    onClose: resolve,
  });
  for (const text of sent) link.send(text);
  expect(await promise).toBe("all");
  expect(heard.map((text, at) => text === sent[at])).toEqual([true, true, true]);
  link.close();
});

test("what is no WebSocket server is refused with a reason; what does not listen, with the system's", async () => {
  const path = join(directory, "s");
  const nothing = { onMessage: () => undefined, onClose: () => undefined };
  await expect(connectWebSocket(path, nothing)).rejects.toMatchObject({ code: "ENOENT" });
  server = createHttpServer((_request, response) => response.writeHead(400).end());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  await expect(connectWebSocket(path, nothing)).rejects.toThrow(
    "the upgrade to a WebSocket failed: Unexpected server response: 400",
  );
});
