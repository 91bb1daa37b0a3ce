/**
 * The Docker Engine's HTTP API: one request at a time, each with a time limit,
 * and connections that are taken over for a stream. What the engine answers is
 * told as it is; that it did not answer is always `runtime-unreachable`, which
 * proves nothing about any container.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { EngineAddress } from "./engine-address.ts";

export interface EngineAnswer {
  readonly status: number;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
}

export interface EngineClient {
  readonly address: EngineAddress;
  /** Whatever it answers. Rejects only where it did not. */
  ask(method: Method, path: string, options?: AskOptions): Promise<EngineAnswer>;
  /** The same, for whom anything but success, or one of `also`, is an error: what the engine said about it. */
  demand(method: Method, path: string, options?: AskOptions & { readonly also?: readonly number[] }): Promise<unknown>;
  /** The connection itself, both ways, once the engine has agreed to hand it over. */
  takeOver(path: string, body: unknown, timeoutMs?: number): Promise<Duplex>;
  /** Answers that go on: a JSON object each line, until the returned function is called or it is over. */
  follow(path: string, listener: LineListener): () => void;
  /**
   * Sends an archive, and tells what the engine says of it, a JSON object each line. Resolves when it has said all.
   * It takes as long as it takes; when the signal fires, the connection is closed, and the engine stops what it does.
   */
  give(
    path: string,
    archive: AsyncIterable<Uint8Array>,
    onLine: (line: unknown) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

export interface LineListener {
  /** The engine has agreed: from now on nothing is missed. */
  onBegun(): void;
  onLine(line: unknown): void;
  onOver(why: string): void;
}

type Method = "GET" | "POST" | "DELETE";

interface AskOptions {
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** It answers within milliseconds, some hundred on a busy machine; whoever asks Reeve waits 5 s at most. */
const ANSWER_MS = 4_000;
/** Nothing that is asked of it has a larger answer; of a hostile one no more is taken. */
const MOST_BYTES = 16_777_216;

export function createEngineClient(address: EngineAddress): EngineClient {
  const send = (
    method: Method,
    path: string,
    body: unknown,
    extra: Readonly<Record<string, string>> = {},
  ): ClientRequest => {
    const payload = body === undefined ? null : JSON.stringify(body);
    const headers = {
      Host: "docker",
      ...(payload === null ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(payload) }),
      ...extra,
    };
    const request = open(address, { method, path, headers, agent: false });
    request.end(payload ?? undefined);
    return request;
  };

  const ask: EngineClient["ask"] = (method, path, { body, timeoutMs = ANSWER_MS } = {}) =>
    new Promise((resolve, reject) => {
      const request = send(method, path, body);
      const fail = (error: unknown): void => {
        clearTimeout(timer);
        request.destroy();
        reject(notReached(address, error));
      };
      const timer = setTimeout(() => fail(new Silence(timeoutMs)), timeoutMs);
      request.once("error", fail);
      request.once("response", (response) => {
        readAll(response).then((text) => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, body: parsed(text) });
        }, fail);
      });
    });

  return {
    address,
    ask,
    async demand(method, path, options = {}) {
      const { status, body } = await ask(method, path, options);
      if ((status >= 200 && status < 300) || status === 304 || options.also?.includes(status) === true) return body;
      throw refused(status, body);
    },
    takeOver: (path, body, timeoutMs = ANSWER_MS) =>
      new Promise((resolve, reject) => {
        const request = send("POST", path, body, { Connection: "Upgrade", Upgrade: "tcp" });
        const fail = (error: unknown): void => {
          clearTimeout(timer);
          request.destroy();
          reject(error instanceof ReeveError ? error : notReached(address, error));
        };
        const timer = setTimeout(() => fail(new Silence(timeoutMs)), timeoutMs);
        request.once("error", fail);
        request.once("upgrade", (_response, socket, head) => {
          clearTimeout(timer);
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
        });
        request.once("response", (response) => {
          readAll(response).then((text) => fail(refused(response.statusCode ?? 0, parsed(text))), fail);
        });
      }),
    follow(path, { onBegun, onLine, onOver }) {
      let isOver = false;
      const request = send("GET", path, undefined);
      const over = (why: string): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        request.destroy();
        onOver(why);
      };
      const timer = setTimeout(() => over(messageOf(new Silence(ANSWER_MS))), ANSWER_MS);
      request.once("error", (error) => over(reasonOf(error)));
      request.once("response", (response) => {
        clearTimeout(timer);
        if (response.statusCode !== 200) return over(`the engine answered with status ${response.statusCode}`);
        onBegun();
        eachLine(response, onLine);
        response.once("close", () => over("the engine ended it"));
        response.once("error", (error) => over(reasonOf(error)));
      });
      return () => {
        isOver = true;
        clearTimeout(timer);
        request.on("error", () => undefined).destroy();
      };
    },
    async give(path, archive, onLine, signal) {
      const headers = { Host: "docker", "Content-Type": "application/x-tar" };
      const request = open(address, { method: "POST", path, headers, agent: false, signal });
      const answered = new Promise<IncomingMessage>((resolve, reject) => {
        request.once("response", resolve);
        // Also after the answer began: then its own error says so.
        request.on("error", reject);
      });
      try {
        // An engine that refuses need not read all of it.
        const [response] = await Promise.all([answered, pipeline(archive, request).catch(() => undefined)]);
        const status = response.statusCode ?? 0;
        if (status !== 200) throw refused(status, parsed(await readAll(response)));
        await everyLine(response, onLine);
      } catch (error) {
        throw error instanceof ReeveError ? error : notReached(address, error);
      }
    },
  };
}

function open(address: EngineAddress, options: RequestOptions): ClientRequest {
  // Loaded when it is needed: it takes 40 ms of the daemon's start.
  const { request: httpRequest } = process.getBuiltinModule("node:http");
  if ("socketPath" in address) return httpRequest({ ...options, socketPath: address.socketPath });
  const { host, port, tls } = address;
  if (tls === null) return httpRequest({ ...options, host, port });
  return process.getBuiltinModule("node:https").request({ ...options, host, port, ...tls });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MOST_BYTES) throw new Error("the engine's answer has no end");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function eachLine(response: IncomingMessage, tell: (line: unknown) => void): void {
  let unfinished = "";
  response.setEncoding("utf8").on("data", (piece: string) => {
    const lines = (unfinished + piece).split("\n");
    unfinished = lines.pop()?.slice(0, MOST_BYTES) ?? "";
    for (const line of lines) if (line.trim() !== "") tell(parsed(line));
  });
}

/** The same, to the end of it; rejects where it broke off. */
function everyLine(response: IncomingMessage, tell: (line: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    eachLine(response, tell);
    response.once("end", resolve);
    response.once("error", reject);
    response.once("close", () => reject(new Error("the engine broke off its answer")));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

class Silence extends Error {
  constructor(ms: number) {
    super(`the Docker Engine did not answer within ${ms / 1_000} s`);
  }
}

/** By what keeps it from being asked: `missing` and `forbidden` pass only when somebody does something. */
export type EngineFault = "missing" | "forbidden" | "silent" | "lost";

function notReached({ url }: EngineAddress, error: unknown): ReeveError {
  const why = `${reasonOf(error)} (${url})`;
  return new ReeveError({
    code: "runtime-unreachable",
    kind: "unavailable",
    message: `The Docker Engine cannot be asked right now: ${why}. Nothing was concluded from it; try again.`,
    details: { reason: why, fault: faultOf(error), timedOut: error instanceof Silence },
  });
}

function faultOf(error: unknown): EngineFault {
  if (error instanceof Silence) return "silent";
  const errno = errnoOf(error) ?? "";
  if (["ENOENT", "ECONNREFUSED", "ENOTSOCK", "ENOTFOUND"].includes(errno)) return "missing";
  return errno === "EACCES" || errno === "EPERM" ? "forbidden" : "lost";
}

function reasonOf(error: unknown): string {
  switch (errnoOf(error)) {
    case "ENOENT":
    case "ECONNREFUSED":
      return "no Docker Engine listens there";
    case "EACCES":
    case "EPERM":
      return "you may not use its socket";
    default:
      return messageOf(error);
  }
}

/** The engine answered, and would not do it. */
function refused(status: number, body: unknown): ReeveError {
  const said = engineMessage(body);
  return new ReeveError({
    code: "engine-refused",
    kind: status >= 500 ? "unavailable" : "conflict",
    message: `The Docker Engine refused: ${said}.`,
    details: { status, reason: said },
  });
}

export function isRefusal(error: unknown, status: number): error is ReeveError {
  return error instanceof ReeveError && error.code === "engine-refused" && error.details["status"] === status;
}

function engineMessage(body: unknown): string {
  const message = typeof body === "object" && body !== null && "message" in body ? String(body.message) : String(body);
  return message.trim().replace(/\.$/, "").slice(0, 500) || "it gave no reason";
}
