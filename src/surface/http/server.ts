/**
 * The HTTP API on the daemon's unix socket (0600 in a 0700 directory). Every
 * route is an operation; this file says who the caller is, and passes requests
 * to operation/door.ts and answers back. Every refusal is a problem+json, also
 * of bytes that are not HTTP (malformed.ts). `/mcp` serves the same operations
 * as MCP tools (mcp.ts).
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Direct, Operation } from "../../operation/contract.ts";
import type { Door } from "../../operation/door.ts";
import type { PassHolder } from "../../operation/pass-holder.ts";
import { CHECKED_HEADER } from "../../platform/checked-header.ts";
import type { Log } from "../../platform/log.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { showValue } from "../../platform/shown-value.ts";
import { SURFACE_HEADER, surfaceNamed } from "../../platform/surface.ts";
import type { Caller } from "../../session/caller.ts";
import { OPERATOR, reachedBy } from "../../session/caller.ts";
import { capConnections, type ConnectionCap } from "./connection-cap.ts";
import { sendStream } from "./event-stream.ts";
import { describeApi } from "./openapi.ts";
import { refuseMalformed } from "./malformed.ts";
import { encodeProblem, headersOf, internalProblem } from "./problem.ts";
import type { EncodedProblem } from "./problem.ts";
import { readBody, readInput, requireNoQuery, urlOf } from "./request.ts";
import { createRouter } from "./router.ts";

// Not imported: an ES module's import of node:http evaluates all its exports, undici among them (40 ms, 13 MB; Node 24).
const { createServer } = process.getBuiltinModule("node:http");

/** Literal: a page that rebinds its name to this machine still sends its own name. */
const HOSTS = new Set(["localhost", "reeve"]);

const MCP_PATH = "/mcp";
/** What is recorded where nobody can tell yet which tool is meant. */
const MCP = { name: "mcp", names: [] };

/**
 * Callers are on this machine and send a request at once: even 8 MB arrive in milliseconds, and a busy machine takes
 * a second. Who takes longer has died or does not mean it.
 */
const RULES = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 60_000,
  // Without a Host it is refused here, with a sentence.
  requireHostHeader: false,
};

export interface HttpParts {
  readonly operations: readonly Operation[];
  readonly door: Door;
  /** Nobody may call without a pass. Otherwise whoever has none is the operator. */
  readonly needsPass: boolean;
  readonly holderOf: PassHolder;
  /** Of a session: told with every answer that it gets. */
  readonly unreadMail: (sessionId: string) => { readonly unread: number; readonly handOffs: number };
  /** Of the daemon, for the description of the API. */
  readonly version: string;
  readonly log: Log;
}

export function createHttpServer(parts: HttpParts): Server {
  const route = createRouter(parts.operations);
  const server = createServer(RULES);
  // Before the requests' own listener: it must know who is being served.
  const cap = capConnections(server);
  server.on("request", (request, response) => {
    // Whoever broke off is gone; nobody else has to know.
    response.on("error", () => response.destroy());
    answer(parts, route, cap, request, response)
      .catch((error: unknown) => refuse(parts, response, error))
      .catch((error: unknown) => {
        parts.log("a request could not even be refused", { why: error });
        response.destroy();
      });
  });
  refuseMalformed(server);
  return server;
}

async function answer(
  parts: HttpParts,
  route: ReturnType<typeof createRouter>,
  cap: ConnectionCap,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  cap.admit(request);
  requireLocalCaller(request);
  const url = urlOf(request);
  if (url.pathname === MCP_PATH) {
    const caller = reachedBy(identify(parts, request, MCP, {}), "mcp");
    requireNoQuery(url);
    const body = await readBody(request);
    const { answerMcp } = await import("./mcp.ts");
    return await answerMcp(parts, caller, request, body, response);
  }
  const { operation, parameters } = route(request.method ?? "GET", url.pathname);
  if (operation === null) {
    tellUnreadMail(parts, callerOf(parts, request), response);
    requireNoQuery(url);
    return sendJson(response, 200, describeApi(parts.operations, parts.version));
  }
  const caller = reachedBy(
    identify(parts, request, operation, parameters),
    surfaceNamed(request.headers[SURFACE_HEADER]),
  );
  tellUnreadMail(parts, caller, response);
  const input = await readInput(request, url, operation, parameters);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { signal } = gone;
  if (wantsStream(request, operation)) {
    const from = { ...input, ...lastSeen(request, operation) };
    const open = (direct: Direct) => parts.door.stream(operation, from, caller, { signal, direct });
    return await sendStream(response, open, signal);
  }
  const key = request.headers["idempotency-key"];
  const idempotencyKey = Array.isArray(key) ? key.join(", ") : key;
  const isChecked = request.headers[CHECKED_HEADER] === "true";
  const called = parts.door.invoke(operation, input, caller, { signal, idempotencyKey, isChecked });
  // As it is by then: a mail may have been read, or come.
  sendJson(response, 200, await called.finally(() => tellUnreadMail(parts, caller, response)));
}

/** Whoever cannot be identified is refused before anything else is read of the request, and that is recorded. */
function identify(
  parts: HttpParts,
  request: IncomingMessage,
  operation: Pick<Operation, "name" | "names">,
  parameters: Readonly<Record<string, string>>,
): Caller {
  try {
    return callerOf(parts, request);
  } catch (error) {
    if (error instanceof ReeveError) parts.door.refuse(operation, parameters, null, error);
    throw error;
  }
}

/** By its pass, or by the socket it came through. Whatever else a request says of its sender counts for nothing. */
function callerOf({ needsPass, holderOf }: HttpParts, { headers: { authorization } }: IncomingMessage): Caller {
  if (authorization !== undefined) {
    const [, pass] = /^Bearer ([A-Za-z0-9_-]{1,128})$/.exec(authorization) ?? [];
    if (pass !== undefined) return holderOf(pass);
  } else if (!needsPass) return OPERATOR;
  throw new ReeveError({
    code: "no-pass",
    kind: "forbidden",
    message: 'This call needs the pass of the session that makes it: send "Authorization: Bearer" and its REEVE_PASS.',
  });
}

/** With whatever is answered, also a refusal. */
function tellUnreadMail({ unreadMail }: HttpParts, caller: Caller, response: ServerResponse): void {
  if (caller.kind !== "session") return;
  const { unread, handOffs } = unreadMail(caller.id);
  response.setHeader("reeve-unread-mail", unread);
  response.setHeader("reeve-unread-hand-offs", handOffs);
}

/** Where an operation has no stream, one is only wanted by whoever takes nothing else; the door tells them. */
function wantsStream({ headers: { accept = "" } }: IncomingMessage, { stream }: Operation): boolean {
  return accept.includes("text/event-stream") && (stream !== undefined || !/json|\*\/\*/.test(accept));
}

/** Where a reader goes on that lost its connection. */
function lastSeen(request: IncomingMessage, { stream }: Operation): Readonly<Record<string, number>> {
  const id = request.headers["last-event-id"];
  if (id === undefined || stream === undefined || stream.since === null) return {};
  if (typeof id === "string" && /^[0-9]{1,15}$/.test(id)) return { [stream.since]: Number(id) };
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: `Last-Event-ID must be the number of an event, not ${showValue(id)}.`,
    details: { field: "Last-Event-ID" },
  });
}

function requireLocalCaller(request: IncomingMessage): void {
  const { host, origin } = request.headers;
  if (origin === undefined && host !== undefined && HOSTS.has(host)) return;
  throw new ReeveError({
    code: "foreign-caller",
    kind: "forbidden",
    message: 'This socket answers local programs only: send "Host: localhost" and no Origin.',
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, headersOf(text, "application/json"));
  response.end(text);
}

function refuse(parts: HttpParts, response: ServerResponse, error: unknown): void {
  const known = error instanceof ReeveError ? error : internalProblem;
  if (known === internalProblem)
    parts.log("a request failed", { why: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  if (response.headersSent) return void response.destroy();
  const { status, headers, text } = encodeProblem(known);
  if (!response.req.complete) return refuseUnread(response, { status, headers, text });
  response.writeHead(status, headers);
  response.end(text);
}

/** Long enough for a caller in the middle of sending to read why it was refused. */
const LINGER_MS = 1_000;

/** What is still to come of the request is thrown away, for a moment: closed at once, the refusal might not arrive. */
function refuseUnread(response: ServerResponse, { status, headers, text }: EncodedProblem): void {
  const { req: request } = response;
  response.writeHead(status, { ...headers, connection: "close" });
  response.write(text);
  const close = (): void => {
    clearTimeout(timer);
    response.end(() => request.socket.destroy());
  };
  const timer = setTimeout(close, LINGER_MS);
  request.once("close", close);
  request.resume();
}
