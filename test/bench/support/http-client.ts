/** One kept-alive connection (or a few) to a unix socket: the same client for the daemon and for what it is held against. */
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Scope } from "./scope.ts";

export interface HttpClient {
  get(path: string): Promise<Buffer>;
  getJson<T>(path: string): Promise<T>;
  postJson<T>(path: string, body: unknown): Promise<T>;
}

const LONGEST_ANSWER_MS = 60_000;

export function createHttpClient(scope: Scope, socketPath: string, connections = 1): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  scope.defer(() => agent.destroy());

  const exchange = (method: string, path: string, body: string | null): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { host: "localhost", accept: "application/json" };
      if (body !== null)
        Object.assign(headers, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      const sent = request({ socketPath, agent, method, path, headers, timeout: LONGEST_ANSWER_MS }, (response) => {
        readAll(response).then(
          (bytes) =>
            response.statusCode === 200
              ? resolve(bytes)
              : reject(new Error(`${method} ${path}: ${bytes.toString().slice(0, 500)}`)),
          reject,
        );
      });
      sent.once("error", reject);
      sent.once("timeout", () => sent.destroy(new Error(`${method} ${path}: no answer`)));
      sent.end(body ?? undefined);
    });

  return {
    get: (path) => exchange("GET", path, null),
    getJson: async <T>(path: string) => JSON.parse((await exchange("GET", path, null)).toString()) as T,
    postJson: async <T>(path: string, body: unknown) =>
      JSON.parse((await exchange("POST", path, JSON.stringify(body))).toString()) as T,
  };
}

function readAll(response: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.once("end", () => resolve(Buffer.concat(chunks)));
    response.once("error", reject);
  });
}

export interface EventFollower {
  /** When (performance.now) an event of this type and session arrived. */
  arrival(type: string, sessionId: string): Promise<number>;
  /** When the next one arrives. */
  next(type: string, sessionId: string): Promise<number>;
  close(): void;
}

/** The event stream, from now on. */
export async function followEvents(scope: Scope, socketPath: string, after: number): Promise<EventFollower> {
  const arrivals = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const take = (line: string, at: number): void => {
    if (!line.startsWith("data: ")) return;
    const { type, session_id } = JSON.parse(line.slice(6)) as {
      readonly type: string;
      readonly session_id: string | null;
    };
    const key = `${type} ${session_id}`;
    arrivals.set(key, at);
    waiting.get(key)?.(at);
    waiting.delete(key);
  };
  const close = await new Promise<() => void>((resolve, reject) => {
    const headers = { host: "localhost", accept: "text/event-stream" };
    const sent = request({ socketPath, agent: false, path: `/v1/events?since=${after}`, headers }, (response) => {
      let unfinished = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        const at = performance.now();
        const lines = `${unfinished}${text}`.split("\n");
        unfinished = lines.pop() ?? "";
        for (const line of lines) take(line, at);
      });
      response.on("error", () => undefined);
      resolve(() => void sent.destroy());
    });
    sent.on("error", reject);
    sent.end();
    scope.defer(() => void sent.destroy());
  });
  const next = (type: string, sessionId: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`there was no ${type} of ${sessionId}`)), 30_000);
      waiting.set(`${type} ${sessionId}`, (arrivedAt) => {
        clearTimeout(timer);
        resolve(arrivedAt);
      });
    });
  return {
    next,
    close,
    arrival(type, sessionId) {
      const at = arrivals.get(`${type} ${sessionId}`);
      return at === undefined ? next(type, sessionId) : Promise.resolve(at);
    },
  };
}
