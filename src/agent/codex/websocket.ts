/** A WebSocket over a unix socket, as a client: Node has none. Text messages only, no extensions. */
import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { messageOf } from "../../platform/reeve-error.ts";
import { createFrameReader, encodeFrame, OPCODE } from "./websocket-frame.ts";

/** Far above any message of Codex's server (a whole history has some megabytes); what is longer is an attack or a fault. */
const LONGEST_MESSAGE_BYTES = 64 * 1024 * 1024;
/** The upgrade's answer has a few hundred bytes. */
const LONGEST_ANSWER_BYTES = 16 * 1024;
/** A server that accepts and then says nothing is not one; it answers within milliseconds. */
const UPGRADE_MS = 5_000;
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

export interface WebSocketEvents {
  readonly onMessage: (text: string) => void;
  /** Once, after the connection was up; not after `close()`. */
  readonly onClose: (why: string) => void;
}

export interface WebSocketLink {
  send(text: string): void;
  close(): void;
}

export function connectWebSocket(path: string, events: WebSocketEvents): Promise<WebSocketLink> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString("base64");
    const socket = connect(path);
    let answer: Buffer = Buffer.alloc(0);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const onTimeout = (): void => fail(new Error("the server did not answer the upgrade to a WebSocket"));
    const onEarlyEnd = (): void => fail(new Error("the server closed the connection"));
    const onAnswer = (bytes: Buffer): void => {
      answer = Buffer.concat([answer, bytes]);
      const end = answer.indexOf("\r\n\r\n");
      if (end < 0 && answer.length < LONGEST_ANSWER_BYTES) return;
      if (end < 0 || !isAccepted(answer.toString("latin1", 0, end), key)) {
        fail(new Error("the server refused the upgrade to a WebSocket"));
        return;
      }
      // Its own listeners come first: between these two nobody would hear that the server is gone, and the daemon would die of it.
      const link = linkOver(socket, events);
      socket.off("data", onAnswer).off("error", fail).off("close", onEarlyEnd).off("timeout", onTimeout).setTimeout(0);
      resolve(link.api);
      // After the caller has the link: its first message may be here already.
      setImmediate(() => link.start(answer.subarray(end + 4)));
    };
    socket
      .setTimeout(UPGRADE_MS)
      .on("timeout", onTimeout)
      .on("error", fail)
      .on("close", onEarlyEnd)
      .on("data", onAnswer);
    socket.write(
      `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
  });
}

function linkOver(
  socket: Socket,
  { onMessage, onClose }: WebSocketEvents,
): { readonly api: WebSocketLink; start(first: Buffer): void } {
  const reader = createFrameReader(LONGEST_MESSAGE_BYTES);
  let isOver = false;
  const end = (why: string): void => {
    if (isOver) return;
    isOver = true;
    socket.destroy();
    onClose(why);
  };
  const write = (opcode: number, payload: Buffer): void => {
    if (!isOver) socket.write(encodeFrame(opcode, payload));
  };
  /** What cannot be read, whatever the server wrote, ends this connection and nothing else. */
  const take = (bytes: Buffer): void => {
    try {
      read(bytes);
    } catch (error) {
      end(`a message could not be read: ${messageOf(error)}`);
    }
  };
  const read = (bytes: Buffer): void => {
    for (const frame of reader.push(bytes)) {
      if (isOver) return;
      switch (frame.type) {
        case "message":
          onMessage(frame.text);
          break;
        case "ping":
          write(OPCODE.pong, frame.payload);
          break;
        case "close":
        case "broken":
          end(frame.why);
          break;
      }
    }
  };
  socket.pause();
  socket.on("error", (error) => end(error.message)).on("close", () => end("the connection is gone"));
  return {
    api: {
      send: (text) => write(OPCODE.text, Buffer.from(text)),
      close: () => {
        if (isOver) return;
        write(OPCODE.close, Buffer.from([0x03, 0xe8]));
        isOver = true;
        socket.end();
        socket.unref();
      },
    },
    start(first) {
      socket.on("data", take);
      if (first.length > 0) take(first);
      socket.resume();
    },
  };
}

function isAccepted(head: string, key: string): boolean {
  const [status = "", ...headers] = head.split("\r\n");
  if (!/^HTTP\/1\.1 101\b/.test(status)) return false;
  const expected = createHash("sha1").update(`${key}${ACCEPT_SUFFIX}`).digest("base64");
  return headers.some((line) => /^sec-websocket-accept:\s*(\S+)$/i.exec(line)?.[1] === expected);
}
