/**
 * Sends one HTTP request to the daemon of a home, on its unix socket. Each
 * request has its own connection, so a broken one leaves nothing behind. Starts
 * the daemon first if it does not run. Refuses a socket that another user could
 * have put there.
 */
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { CHECKED_HEADER } from "../platform/checked-header.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { type Surface, SURFACE_HEADER } from "../platform/surface.ts";
import { aborted, isCrashed, isUnreached, lost, notRunning, silent, unreachable } from "./problem.ts";
import { createResponseParser } from "./response-parser.ts";
import type { ResponseHead } from "./response-parser.ts";
import type { StartPlan } from "./start-daemon.ts";

export interface Link {
  readonly socketPath: string;
  /** Of the session that calls; without one the operator does. */
  readonly pass?: string;
  /** The daemon checks each answer before it gives it: for those who pass it on to somebody else. */
  readonly isChecked?: boolean;
  /** What the caller is, for the record. */
  readonly surface?: Surface;
  /** How to start the daemon; null leaves that to others. */
  readonly start: StartPlan | null;
  /** For calls that do not say; `always` unless said otherwise. */
  readonly revival?: Revival;
  /** How long a call goes on when the daemon dies over it again and again. */
  readonly enduranceMs?: number;
  /** For every change, unless the call brings its own. */
  readonly idempotencyKey?: string;
  /** Where the daemon says who it is. */
  readonly recordPath?: string;
  /** Tells a person, in a sentence, what is being waited for. */
  readonly notice?: (sentence: string) => void;
  /** Told with each answer that a session gets. */
  readonly onUnreadMail?: (unread: UnreadMailCount) => void;
}

export interface UnreadMailCount {
  readonly unread: number;
  /** How many of those are hand-offs. */
  readonly handOffs: number;
}

/**
 * When a missing daemon is started: `always` for whoever needs an answer now;
 * `after-crash` for those who only wait, so that a daemon stopped on purpose
 * is not brought back by every watcher.
 */
export type Revival = "always" | "after-crash";

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

/** The daemon answers in milliseconds; after this long it is asked whether it is there at all. */
const QUIET_MS = 1_000;

/** One try, and one more after a start. Whether to try again is for whoever knows what was asked. */
export async function reach(
  link: Link,
  request: Request,
  listener: Listener,
  revival: Revival = link.revival ?? "always",
): Promise<void> {
  try {
    return await attempt(link, request, listener);
  } catch (error) {
    const mayStart = isUnreached(error) && (revival === "always" || isCrashed(error));
    if (link.start === null || !mayStart) throw error;
  }
  // Loaded only now: child_process and the lock cost more than the whole of `reeve list`.
  const { startDaemon } = await import("./start-daemon.ts");
  await startDaemon(link.start, link.socketPath);
  await attempt(link, request, listener);
}

async function attempt(link: Link, request: Request, listener: Listener): Promise<void> {
  requirePrivate(dirname(link.socketPath));
  const over = new AbortController();
  const giveUp = new AbortController();
  const onAbort = (): void => giveUp.abort();
  request.signal?.addEventListener("abort", onAbort, { once: true });
  if (request.signal?.aborted === true) giveUp.abort();
  let verdict: unknown = null;
  const look = async (): Promise<void> => {
    const { watchSilence } = await import("./silence.ts");
    await watchSilence(link, request.outlastsSilence === true, over.signal);
  };
  const timer = setTimeout(() => {
    look().catch((error: unknown) => {
      verdict = error;
      giveUp.abort();
    });
  }, QUIET_MS);
  try {
    await exchange(link, { ...request, signal: giveUp.signal }, listener);
  } catch (error) {
    throw verdict ?? error;
  } finally {
    clearTimeout(timer);
    over.abort();
    request.signal?.removeEventListener("abort", onAbort);
  }
}

function requirePrivate(directory: string): void {
  if (!existsSync(directory)) throw notRunning("missing");
  ensurePrivateDir(directory);
}

/** Resolves when the answer is whole. */
export function exchange(
  link: Pick<Link, "socketPath" | "pass" | "isChecked" | "surface" | "onUnreadMail">,
  request: Request,
  listener: Listener,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const socket = connect(link.socketPath);
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
      head: (head) => {
        const unread = unreadMailIn(head.headers);
        if (unread !== null) link.onUnreadMail?.(unread);
        listener.head(head, flow);
      },
      body: (bytes) => listener.body(bytes),
      end: () => settle(null),
    });
    socket.setTimeout(request.patienceMs, () => settle(silent(request.patienceMs)));
    socket.on("connect", () => {
      isConnected = true;
      socket.write(encode(request, link));
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

/** Null: the daemon does not know who asks, or it is no session. */
function unreadMailIn(headers: ResponseHead["headers"]): UnreadMailCount | null {
  const unread = headers["reeve-unread-mail"];
  return unread === undefined ? null : { unread: Number(unread), handOffs: Number(headers["reeve-unread-hand-offs"]) };
}

function encode(request: Request, { pass, isChecked, surface }: Pick<Link, "pass" | "isChecked" | "surface">): string {
  const { method, path, body, headers = {} } = request;
  const length =
    body === undefined ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    "connection: close",
    ...(pass === undefined ? [] : [`authorization: Bearer ${pass}`]),
    ...(isChecked === true ? [`${CHECKED_HEADER}: true`] : []),
    ...(surface === undefined ? [] : [`${SURFACE_HEADER}: ${surface}`]),
    ...given,
    ...length,
    "",
    body ?? "",
  ].join("\r\n");
}
