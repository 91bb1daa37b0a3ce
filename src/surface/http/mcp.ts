/**
 * MCP over HTTP: `/mcp` on both sockets. Who calls, from where, and how much,
 * was checked before (server.ts); the SDK checks none of it. Loaded with the
 * first request, because it brings the SDK and the web's Request and Response.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Caller } from "../../session/caller.ts";
import type { Backend } from "../mcp/backend.ts";
import { followResources } from "../mcp/resource-feed.ts";
import { createMcpServer } from "../mcp/server.ts";
import type { DoorParts } from "./door-backend.ts";
import { doorBackend } from "./door-backend.ts";

export interface McpParts extends DoorParts {
  readonly version: string;
}

export async function answerMcp(
  parts: McpParts,
  caller: Caller,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const key = request.headers["idempotency-key"];
  const backend = doorBackend(parts, caller, typeof key === "string" ? key : undefined);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  // One for each request: nothing is kept between them, and what listens does so as this caller.
  const handler = createMcpHandler(
    ({ era }) => createMcpServer({ backend, version: parts.version, era, subscribed: null }),
    { bus: busOf(backend), onerror: () => undefined, maxRequestBodySize: Math.max(1, body.length) },
  );
  const answer = await handler.fetch(webRequest(request, body, gone.signal));
  await send(answer, response, gone.signal);
}

function webRequest(request: IncomingMessage, body: Buffer, signal: AbortSignal): Request {
  const { method = "GET" } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !name.startsWith(":"))
      headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request("http://localhost/mcp", {
    method,
    headers,
    signal,
    ...(hasBody ? { body: new Uint8Array(body) } : {}),
  });
}

/** Events are followed for as long as somebody listens, with that caller's eyes. */
function busOf(backend: Backend): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: (listener: (event: ServerEvent) => void) =>
      followResources(backend, (uri) => listener({ kind: "resource_updated", uri })),
  };
}

async function send(answer: Response, response: ServerResponse, signal: AbortSignal): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = answer.body?.getReader();
  if (reader === undefined) return void response.end();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!response.write(value)) await drained(response, signal);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    response.end();
  }
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    response.once("drain", done);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
