/** A server that goes away at any moment of a connection costs that connection, and nothing else (issue 7, 14). */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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

/** Accepts the upgrade, and then does what it is told. */
async function serve(then: (socket: Socket) => void): Promise<string> {
  const path = join(directory, "s");
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      const key = /sec-websocket-key: (\S+)/i.exec(bytes.toString("latin1"))?.[1] ?? "";
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
        () => then(socket),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

test("a server that dies right after the upgrade, while the first message is sent (issue 7, 14)", async () => {
  const path = await serve((socket) => socket.destroy());
  for (let round = 0; round < 50; round++) {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<string>();
    const link = await connectWebSocket(path, { onMessage: () => undefined, onClose });
    // As the first call does: before anything else of this connection is heard.
    for (let message = 0; message < 20; message++) link.send("x".repeat(100_000));
    expect(await closed).not.toBe("");
  }
});

test("a message that its reader cannot read ends the connection (issue 7, 14)", async () => {
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
