/**
 * The way to one home's daemon: reaches it, and starts it first when it is not
 * there. Fails closed when others could have put the socket there.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { exchange, isCrashed, isUnreached, notRunning } from "./request.ts";
import type { Listener, Request } from "./request.ts";
import type { StartPlan } from "./start-daemon.ts";

export interface Link {
  readonly socketPath: string;
  /** How to start the daemon; null leaves that to others. */
  readonly start: StartPlan | null;
  /** How long a call goes on when the daemon dies over it again and again. */
  readonly enduranceMs?: number;
  /** For every change, unless the call brings its own. */
  readonly idempotencyKey?: string;
  /** Where the daemon says who it is. */
  readonly recordPath?: string;
  /** Tells a person, in a sentence, what is being waited for. */
  readonly notice?: (sentence: string) => void;
}

/**
 * When a missing daemon is started: `always` for whoever needs an answer now;
 * `after-crash` for those who only wait, so that a daemon stopped on purpose
 * is not brought back by every watcher.
 */
export type Revival = "always" | "after-crash";

/** The daemon answers in milliseconds; after this long it is asked whether it is there at all. */
const QUIET_MS = 1_000;

/** One try, and one more after a start. Whether to try again is for whoever knows what was asked. */
export async function reach(
  link: Link,
  request: Request,
  listener: Listener,
  revival: Revival = "always",
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
    await exchange(link.socketPath, { ...request, signal: giveUp.signal }, listener);
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
