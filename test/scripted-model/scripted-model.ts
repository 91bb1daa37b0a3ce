// A model that does what the prompt says, over the three APIs that the real agents speak. Loopback only.

import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BadRequest } from "./conversation.ts";
import type { Asked } from "./conversation.ts";
import { createFailures } from "./failure-count.ts";
import type { Failures } from "./failure-count.ts";
import { isObject, parseJson } from "./json.ts";
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
  /** Waits until a request matches, such as `(request) => request.outcome === "answered"`. */
  waitFor(match: Match, timeoutMs?: number): Promise<RecordedRequest>;
  /** Also drops the connections that hang. */
  close(): Promise<void>;
}

export interface ScriptedModelOptions {
  readonly port?: number;
  /** The directives that a prompt in plain words stands for, where a screen is shown to people. */
  readonly meanings?: Readonly<Record<string, string>>;
}

export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { meanings = {} } = options;
  const records = createRecords();
  const failures = createFailures();
  const server = createServer((request, response) => {
    response.on("error", () => response.destroy());
    serve(request, response, { records, failures, meanings }).catch(() => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options.port ?? 0, "127.0.0.1", resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: records.list,
    waitFor: (match, timeoutMs = 10_000) => records.waitFor(match, timeoutMs),
    close: () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      return closed.promise;
    },
  };
}

interface Memory {
  readonly records: Records;
  readonly failures: Failures;
  readonly meanings: Readonly<Record<string, string>>;
}

async function serve(request: IncomingMessage, response: ServerResponse, memory: Memory): Promise<void> {
  const { records, failures, meanings } = memory;
  const path = new URL(request.url ?? "/", "http://127.0.0.1").pathname;
  const isGet = request.method === "GET";
  if (isGet && path === "/requests") return sendJson(response, 200, records.list());
  if (isGet && path.endsWith("/models")) return sendJson(response, 200, { object: "list", data: [], models: [] });
  if (request.headers.upgrade !== undefined)
    return sendJson(response, 426, { error: { message: "No WebSocket here" } });
  const route = request.method === "POST" ? routeOf(path) : undefined;
  if (route === undefined) return sendJson(response, 404, { error: { message: `No such path: ${path}` } });
  const asked = await readRequest(request, route);
  if (asked instanceof BadRequest) return sendJson(response, 400, route.dialect.error(400, asked.message));
  const gone = new AbortController();
  const plan = planFor({ ...asked, prompt: meanings[asked.prompt] ?? asked.prompt });
  const entry = records.begin({ api: route.dialect.api, path, prefix: route.prefix }, asked, plan.answer);
  response.once("close", () => {
    entry.close();
    gone.abort();
  });
  if (route.verb === "count_tokens" || route.verb === "countTokens") {
    entry.end("answered");
    return sendJson(response, 200, { input_tokens: plan.answer.usage.input, totalTokens: plan.answer.usage.input });
  }
  const mayFail = (step: number, times: number): boolean =>
    failures.take(
      [route.prefix, asked.session, asked.prompt, asked.messages.length, plan.part, step].join("\n"),
      times,
    );
  await perform(plan, { response, dialect: route.dialect, asked, entry, gone: gone.signal, mayFail });
}

async function readRequest(request: IncomingMessage, route: Route): Promise<Asked | BadRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const body = parseJson(Buffer.concat(pieces).toString("utf8"));
  if (!isObject(body)) return new BadRequest("The body is not a JSON object");
  try {
    return route.dialect.read(body, { headers: request.headers, model: route.model, verb: route.verb });
  } catch (error) {
    if (error instanceof BadRequest) return error;
    throw error;
  }
}
