// A model that does what the prompt says, over the three APIs that the real agents speak. Loopback only.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BadRequest } from "./conversation.ts";
import type { Asked } from "./conversation.ts";
import { createFailures } from "./failure-count.ts";
import type { Failures } from "./failure-count.ts";
import { isObject, parseJson } from "./json.ts";
import { createLimitWindows } from "./limit-window.ts";
import type { LimitWindows } from "./limit-window.ts";
import type { Reply } from "./perform.ts";
import { perform, sendJson } from "./perform.ts";
import { planFor } from "./plan.ts";
import type { Match, RecordedRequest, Records, RequestFilter } from "./record.ts";
import { createRecords } from "./record.ts";
import type { Route } from "./route.ts";
import { routeOf } from "./route.ts";

export interface ScriptedModel {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string;
  requests(filter?: RequestFilter): readonly RecordedRequest[];
  /** With `keepsBytes`: what came and what was sent, in the order of the requests. */
  exchanges(): readonly KeptExchange[];
  /** Waits until a request matches, such as `(request) => request.outcome === "answered"`. */
  waitFor(match: Match, timeoutMs?: number): Promise<RecordedRequest>;
  /** Also drops the connections that hang. */
  close(): Promise<void>;
}

/** The bytes of the bodies, as they were on the wire; of a websocket, its messages. */
export interface KeptExchange {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly request: Buffer[];
  readonly response: Buffer[];
}

export interface ScriptedModelOptions {
  readonly port?: number;
  readonly keepsBytes?: true;
  /** Codex may use a websocket, and otherwise has to do without. */
  readonly websockets?: true;
  /** The directives that a prompt in plain words stands for, where a screen is shown to people. */
  readonly meanings?: Readonly<Record<string, string>>;
}

export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { meanings = {} } = options;
  const records = createRecords();
  const failures = createFailures();
  const limits = createLimitWindows();
  const memory = { records, failures, limits, meanings };
  const exchanges: KeptExchange[] = [];
  const server = createServer((request, response) => {
    response.on("error", () => response.destroy());
    if (options.keepsBytes === true && request.method === "POST") exchanges.push(kept(request, response));
    serve(request, response, memory).catch(() => response.destroy());
  });
  const dropSockets =
    options.websockets === true
      ? (await import("./responses-socket.ts")).serveSockets(server, {
          answer: (request) => answer(request, memory),
          keep(upgrade) {
            const exchange = emptyExchange(upgrade);
            if (options.keepsBytes === true) exchanges.push(exchange);
            return exchange;
          },
        })
      : undefined;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options.port ?? 0, "127.0.0.1", resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: records.list,
    exchanges: () => exchanges,
    waitFor: (match, timeoutMs = 10_000) => records.waitFor(match, timeoutMs),
    close: () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      dropSockets?.();
      return closed.promise;
    },
  };
}

function emptyExchange({ url = "/", headers }: IncomingMessage): KeptExchange {
  return { path: url, headers, request: [], response: [] };
}

function kept(request: IncomingMessage, response: ServerResponse): KeptExchange {
  const exchange = emptyExchange(request);
  request.on("data", (bytes: Buffer) => exchange.request.push(bytes));
  const note = (chunk: unknown): void => {
    if (typeof chunk === "string" || Buffer.isBuffer(chunk)) exchange.response.push(Buffer.from(chunk));
  };
  const [write, end] = [response.write.bind(response), response.end.bind(response)];
  response.write = ((chunk: unknown, ...rest: unknown[]) => {
    note(chunk);
    return (write as (...all: unknown[]) => boolean)(chunk, ...rest);
  }) as typeof response.write;
  response.end = ((chunk: unknown, ...rest: unknown[]) => {
    note(chunk);
    return (end as (...all: unknown[]) => ServerResponse)(chunk, ...rest);
  }) as typeof response.end;
  return exchange;
}

interface Memory {
  readonly records: Records;
  readonly failures: Failures;
  readonly limits: LimitWindows;
  readonly meanings: Readonly<Record<string, string>>;
}

async function serve(request: IncomingMessage, response: ServerResponse, memory: Memory): Promise<void> {
  const path = new URL(request.url ?? "/", "http://127.0.0.1").pathname;
  const isGet = request.method === "GET";
  if (isGet && path === "/requests") return sendJson(response, 200, memory.records.list());
  if (isGet && path.endsWith("/models")) return sendJson(response, 200, { object: "list", data: [], models: [] });
  if (isGet && path.endsWith("/wham/accounts/check")) return sendJson(response, 200, accountOf(request.headers));
  if (request.headers.upgrade !== undefined)
    return sendJson(response, 426, { error: { message: "No WebSocket here" } });
  const route = request.method === "POST" ? routeOf(path) : undefined;
  if (route === undefined) return sendJson(response, 404, { error: { message: `No such path: ${path}` } });
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const body = parseJson(Buffer.concat(pieces).toString("utf8"));
  await answer({ path, route, headers: request.headers, body, reply: response }, memory);
}

/** Without this, codex 0.166.0 with a log-in of ChatGPT does not start. It insists on https, and asks `openai_base_url`. */
function accountOf(headers: IncomingHttpHeaders): unknown {
  const workspace = { workspace_backend_origin: "https://model.invalid", account_routing_override: "NO_CONSTRAINT" };
  return { accounts: [{ id: headers["chatgpt-account-id"], ...workspace }] };
}

/** One request, however it came. */
interface Request {
  readonly path: string;
  readonly route: Route;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly reply: Reply;
}

async function answer(request: Request, memory: Memory): Promise<void> {
  const { path, route, headers, reply } = request;
  const { records, failures, limits, meanings } = memory;
  const asked = readRequest(request);
  if (asked instanceof BadRequest) return sendJson(reply, 400, route.dialect.error(400, asked.message));
  const gone = new AbortController();
  const plan = planFor({ ...asked, prompt: meanings[asked.prompt] ?? asked.prompt });
  const entry = records.begin({ api: route.dialect.api, path, prefix: route.prefix }, asked, plan.answer);
  reply.once("close", () => {
    entry.close();
    gone.abort();
  });
  if (route.verb === "count_tokens" || route.verb === "countTokens") {
    entry.end("answered");
    return sendJson(reply, 200, { input_tokens: plan.answer.usage.input, totalTokens: plan.answer.usage.input });
  }
  const account = `${route.dialect.api} ${credentialOf(headers)}`;
  const same = [route.prefix, asked.session, asked.prompt, asked.messages.length, plan.part].join("\n");
  await perform(plan, {
    response: reply,
    dialect: route.dialect,
    asked,
    entry,
    gone: gone.signal,
    mayFail: (step, times) => failures.take(`${same}\n${step}`, times),
    limitOf: ({ ms, once }) => {
      if (once) return limits.begin(account, ms);
      const own = `${account}\n${same}`;
      const resetsAt = limits.begin(own, ms);
      if (resetsAt === undefined) limits.forget(own);
      return resetsAt;
    },
    accountLimit: limits.current(account),
  });
}

/** Whose limit a request draws on. */
function credentialOf(headers: IncomingHttpHeaders): string {
  return String(headers.authorization ?? headers["x-api-key"] ?? headers["x-goog-api-key"] ?? "");
}

function readRequest({ body, headers, route }: Request): Asked | BadRequest {
  if (!isObject(body)) return new BadRequest("The body is not a JSON object");
  try {
    return route.dialect.read(body, { headers, model: route.model, verb: route.verb });
  } catch (error) {
    if (error instanceof BadRequest) return error;
    throw error;
  }
}
