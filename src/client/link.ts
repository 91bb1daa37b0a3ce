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
}

/**
 * When a missing daemon is started: `always` for whoever needs an answer now;
 * `after-crash` for those who only wait, so that a daemon stopped on purpose
 * is not brought back by every watcher.
 */
export type Revival = "always" | "after-crash";

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
  await exchange(link.socketPath, request, listener);
}

function requirePrivate(directory: string): void {
  if (!existsSync(directory)) throw notRunning("missing");
  ensurePrivateDir(directory);
}
