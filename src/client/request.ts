/**
 * One HTTP request on a unix socket, one connection each: what is left of a
 * call that broke is nothing but its error. Says apart whether the daemon was
 * never reached, was lost on the way, or is silent, because each is mended
 * differently.
 */
import { connect } from "node:net";
import { ReeveError } from "../platform/reeve-error.ts";
import { createResponseParser } from "./response-parser.ts";
import type { ResponseHead } from "./response-parser.ts";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** Silence longer than this means that nobody will answer. */
  readonly patienceMs: number;
  /** A daemon that does not answer is waited for. */
  readonly outlastsSilence?: boolean;
}

/** Holds the sender back while the reader is not ready for more. */
export interface Flow {
  pause(): void;
  resume(): void;
}

export interface Listener {
  head(head: ResponseHead, flow: Flow): void;
  body(bytes: Buffer): void;
}

/** Resolves when the answer is whole. */
export function exchange(socketPath: string, request: Request, listener: Listener): Promise<void> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const socket = connect(socketPath);
    const settle = (error: Error | null): void => {
      request.signal?.removeEventListener("abort", onAbort);
      // Not now: a command that has its answer should show it first.
      setImmediate(() => socket.destroy());
      if (error === null) resolve();
      else reject(error);
    };
    const onAbort = (): void => settle(aborted());
    const flow: Flow = { pause: () => socket.pause(), resume: () => socket.resume() };
    const parser = createResponseParser({
      head: (head) => listener.head(head, flow),
      body: (bytes) => listener.body(bytes),
      end: () => settle(null),
    });
    socket.setTimeout(request.patienceMs, () => settle(silent(request.patienceMs)));
    socket.on("connect", () => {
      isConnected = true;
      socket.write(encode(request));
    });
    socket.on("data", (bytes) => {
      try {
        parser.push(bytes);
      } catch (error) {
        settle(lost(error));
      }
    });
    socket.on("error", (error) => settle(isConnected ? lost(error) : unreachable(error)));
    socket.on("close", () =>
      settle(parser.close() ? null : lost("it closed the connection before its answer was whole")),
    );
    request.signal?.addEventListener("abort", onAbort, { once: true });
    if (request.signal?.aborted === true) settle(aborted());
  });
}

function encode(request: Request): string {
  const { method, path, body, headers = {} } = request;
  const length =
    body === undefined ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    "connection: close",
    ...given,
    ...length,
    "",
    body ?? "",
  ].join("\r\n");
}

/** Nobody listens there: nothing was asked yet. */
export function isUnreached(error: unknown): boolean {
  return error instanceof ReeveError && error.code === "daemon-not-running";
}

/** A daemon that is stopped removes its socket; one that died leaves it behind. */
export function isCrashed(error: unknown): boolean {
  return error instanceof ReeveError && error.code === "daemon-not-running" && error.details["socket"] === "dead";
}

/** It was asked, and whether it did what it was asked is not known. */
export function isLost(error: unknown): boolean {
  return error instanceof ReeveError && error.code === "daemon-lost";
}

export function notRunning(socket: "missing" | "dead"): ReeveError {
  return new ReeveError({
    code: "daemon-not-running",
    kind: "unavailable",
    message: "The daemon is not running; start it with reeve daemon start.",
    details: { socket },
  });
}

const PASSING_ERRNOS = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOTCONN",
  "ESHUTDOWN",
  "ETIMEDOUT",
  "EINTR",
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
]);

function unreachable(error: NodeJS.ErrnoException): ReeveError {
  if (error.code === "ENOENT") return notRunning("missing");
  if (error.code === "ECONNREFUSED") return notRunning("dead");
  // Its queue of connections is full: it lives, and will take this one in a moment.
  if (error.code === "EAGAIN")
    return new ReeveError({
      code: "daemon-crowded",
      kind: "unavailable",
      message: "The daemon has too many callers at once; try again.",
    });
  // It died between taking the connection and saying so, or this process is short of something for a moment.
  if (PASSING_ERRNOS.has(error.code ?? "")) return lost(error);
  if (error.code === "EACCES" || error.code === "EPERM")
    return new ReeveError({
      code: "socket-forbidden",
      kind: "forbidden",
      message: `The daemon's socket may not be opened (${error.message}); check who owns it.`,
    });
  return new ReeveError({
    code: "daemon-unreachable",
    kind: "unavailable",
    message: `The daemon cannot be reached (${error.message}); see reeve daemon status.`,
  });
}

function lost(why: unknown): ReeveError {
  const said = why instanceof Error ? why.message : String(why);
  return new ReeveError({
    code: "daemon-lost",
    kind: "unavailable",
    message: `The daemon went away while it was asked (${said}); try again.`,
  });
}

function silent(patienceMs: number): ReeveError {
  return new ReeveError({
    code: "daemon-silent",
    kind: "unavailable",
    message: `The daemon took the request but did not answer for ${Math.round(patienceMs / 1_000)} s; see daemon.log in its state directory.`,
  });
}

function aborted(): ReeveError {
  return new ReeveError({ code: "aborted", kind: "unavailable", message: "The request was given up by its caller." });
}
