/**
 * A WebSocket over a unix socket, as a client. Text messages only, no
 * extensions. The package `ws` speaks the protocol; `rpc.ts` loads this file
 * with the first connection.
 */
import { connect, type Socket } from "node:net";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { messageOf } from "../../platform/reeve-error.ts";

export interface WebSocketEvents {
  readonly onMessage: (text: string) => void;
  /** Once, after the connection was up; not after `close()`. */
  readonly onClose: (why: string) => void;
}

export interface WebSocketLink {
  send(text: string): void;
  close(): void;
}

/** Far above any message of Codex's server (a whole history has some megabytes); what is longer is an attack or a fault. */
const LONGEST_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A server that accepts and then says nothing is not one; it answers within milliseconds. */
const UPGRADE_MS = 5_000;
/** A server that has said goodbye closes its end at once. One that does not is cut, and then the close is told. */
const CLOSE_MS = 1_000;

export function connectWebSocket(path: string, events: WebSocketEvents): Promise<WebSocketLink> {
  return new Promise((resolve, reject) => {
    // Not a `ws+unix:` address: in it a path with a colon, a space or a percent sign is another path.
    const socket = connect({ path, timeout: UPGRADE_MS });
    const options: ClientOptions & { readonly closeTimeout: number } = {
      createConnection: () => socket,
      handshakeTimeout: UPGRADE_MS,
      closeTimeout: CLOSE_MS,
      maxPayload: LONGEST_MESSAGE_BYTES,
      perMessageDeflate: false,
    };
    const webSocket = new WebSocket("ws://localhost/", options);
    const fail = (error: Error): void => reject(notUpgraded(error));
    webSocket.on("error", fail);
    webSocket.once("open", () => {
      webSocket.off("error", fail);
      resolve(linkOver(webSocket, socket, events));
      // After the caller has the link: the server's first message may be here already.
      webSocket.pause();
      setImmediate(() => webSocket.resume());
    });
  });
}

function linkOver(webSocket: WebSocket, socket: Socket, { onMessage, onClose }: WebSocketEvents): WebSocketLink {
  let isOver = false;
  /** What went wrong first; what follows it is only that the connection is closed. */
  let fault: string | null = null;
  const end = (why: string): void => {
    if (isOver) return;
    isOver = true;
    webSocket.terminate();
    onClose(why);
  };
  /** Whatever the server wrote ends this connection and nothing else. */
  const take = (data: RawData, isBinary: boolean): void => {
    if (isOver) return;
    try {
      if (isBinary) throw new Error("it is not text");
      onMessage(textOf(data));
    } catch (error) {
      end(`a message could not be read: ${messageOf(error)}`);
    }
  };
  // `ws` tells of what the server wrote, and keeps the socket's own errors to itself.
  socket.on("error", (error) => (fault ??= error.message));
  webSocket
    .on("message", take)
    .on("error", (error) => end(`the server broke the protocol: ${error.message}`))
    .on("close", (code, reason) => end(fault ?? closeReason(code, reason.toString("utf8"))));
  return {
    send: (text) => webSocket.send(text, ignoreUnsent),
    close: () => {
      if (isOver) return;
      isOver = true;
      webSocket.close(1000);
      socket.unref();
    },
  };
}

/** What the system says of the socket (ENOENT, ECONNREFUSED) is passed on as it is: callers tell by it whether to wait. */
function notUpgraded(error: Error): Error {
  return "syscall" in error
    ? error
    : new Error(`the upgrade to a WebSocket failed: ${error.message}`, { cause: error });
}

/** That the connection is gone is told by its close. */
function ignoreUnsent(): void {}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString("utf8");
}

/** 1005 and 1006 are never sent: they stand for a close without a code, and for none at all. */
function closeReason(code: number, reason: string): string {
  if (code === 1006) return "the connection is gone";
  if (code === 1005) return "the server closed the connection";
  return `the server closed the connection (${code}${reason === "" ? "" : `: ${reason}`})`;
}
