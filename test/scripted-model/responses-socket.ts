// The websocket that codex 0.166.0 tries first. A request is one text message, `{"type":"response.create",…}`, and each
// event of its answer is another. A request that names the answer before it (`previous_response_id`) holds only what is
// new, so a socket remembers the conversation up to its last answer.

import type { IncomingHttpHeaders, IncomingMessage, Server } from "node:http";
import { Writable } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { JsonObject } from "./json.ts";
import { isObject, listAt, objectAt, parseJson, textAt } from "./json.ts";
import type { Reply } from "./perform.ts";
import { sendJson } from "./perform.ts";
import type { Route } from "./route.ts";
import { routeOf } from "./route.ts";

interface Where {
  readonly path: string;
  readonly route: Route;
}

export interface SocketRequest extends Where {
  readonly headers: IncomingHttpHeaders;
  /** As it would be over HTTP, with the whole conversation. */
  readonly body: JsonObject;
  readonly reply: Reply;
}

export interface SocketUse {
  answer(request: SocketRequest): Promise<void>;
  /** Where the messages of this socket are kept. */
  keep(upgrade: IncomingMessage): { readonly request: Buffer[]; readonly response: Buffer[] };
}

/** Returns what drops them all. */
export function serveSockets(server: Server, use: SocketUse): () => void {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  server.on("upgrade", (upgrade, connection, head) => {
    const path = new URL(upgrade.url ?? "/", "http://127.0.0.1").pathname;
    const route = routeOf(path);
    if (route?.dialect.api !== "responses") return void connection.end("HTTP/1.1 404 Not Found\r\n\r\n");
    sockets.handleUpgrade(upgrade, connection, head, (socket) => converse(socket, upgrade, { path, route }, use));
  });
  return () => sockets.clients.forEach((socket) => socket.terminate());
}

function converse(socket: WebSocket, upgrade: IncomingMessage, where: Where, use: SocketUse): void {
  const kept = use.keep(upgrade);
  let last: { readonly id: string; readonly items: readonly unknown[] } = { id: "", items: [] };
  let current: Reply | undefined;
  socket.on("error", () => socket.terminate());
  socket.on("close", () => current?.destroy());
  socket.on("message", (data: Buffer) => {
    kept.request.push(data);
    const message = parseJson(data.toString("utf8"));
    const before = textAt(message, "previous_response_id");
    const input = [...(before === "" ? [] : last.items), ...listAt(message, "input")];
    const reply = replyOn(socket, (text) => {
      kept.response.push(Buffer.from(text));
      const response = objectAt(parseJson(text), "response");
      if (response["status"] === "completed")
        last = { id: textAt(response, "id"), items: [...input, ...listAt(response, "output")] };
    });
    current = reply;
    if (before !== "" && before !== last.id) return sendJson(reply, 400, NOT_FOUND);
    const body = { ...(isObject(message) ? message : {}), input };
    use.answer({ ...where, headers: upgrade.headers, body, reply }).catch(() => socket.terminate());
  });
}

const NOT_FOUND = { error: { code: "previous_response_not_found", message: "Previous response not found." } };

/** Takes what would be the response over HTTP: of a stream each event is a message, and an error is one, with its headers. */
function replyOn(socket: WebSocket, sent: (text: string) => void): Reply {
  const headers: Record<string, string> = {};
  let status = 200;
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      const messages = status === 200 ? [...limitsOf(headers), ...eventsIn(text)] : [errorOf(text)];
      messages.forEach(sent);
      messages.forEach((message, index) =>
        // A socket that is gone is noticed by its end.
        socket.send(message, index === messages.length - 1 ? () => done() : undefined),
      );
    },
    destroy(error, done) {
      if (!stream.writableFinished) socket.terminate();
      done(error);
    },
  });
  const reply: Reply = Object.assign(stream, {
    headersSent: true,
    setHeader: (name: string, value: string) => (headers[name] = value),
    writeHead: (code: number) => {
      status = code;
      return reply;
    },
  });
  const errorOf = (text: string): string => {
    const body = parseJson(text);
    return JSON.stringify({ type: "error", status, ...(isObject(body) ? body : {}), headers });
  };
  return reply;
}

/** What would be headers of the response comes before its first event, once. */
function limitsOf(headers: Record<string, string>): readonly string[] {
  const used = headers["x-codex-primary-used-percent"];
  if (used === undefined) return [];
  const reset = Number(headers["x-codex-primary-reset-at"]);
  const minutes = Number(headers["x-codex-primary-window-minutes"]);
  delete headers["x-codex-primary-used-percent"];
  const primary = { used_percent: Number(used), window_minutes: minutes, reset_at: reset };
  const limits = { primary, secondary: null };
  const credits = { has_credits: false, unlimited: false, balance: null };
  return [JSON.stringify({ type: "codex.rate_limits", metered_limit_name: "codex", rate_limits: limits, credits })];
}

function eventsIn(stream: string): readonly string[] {
  return stream.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
}
