/**
 * The way to one home's daemon: reaches it, and starts it first when it is not
 * there. Fails closed when others could have put the socket there.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { systemClock } from "../platform/clock.ts";
import { exchange, isCrashed, isCrowded, isUnreached, notRunning } from "./request.ts";
import type { Listener, Request } from "./request.ts";
import type { StartPlan } from "./start-daemon.ts";

export interface Link {
  readonly socketPath: string;
  /** How to start the daemon; null leaves that to others. */
  readonly start: StartPlan | null;
}

/**
 * When a missing daemon is started: `always` for whoever needs an answer now;
 * `after-crash` for those who only wait, so that a daemon stopped on purpose
 * is not brought back by every watcher.
 */
export type Revival = "always" | "after-crash";

/** A daemon that dies again and again is not a matter of one more try. */
const MOST_STARTS = 3;
/** A full queue empties within milliseconds; 100 rounds of 20 ms are a daemon that hangs. */
const MOST_ROUNDS = 100;
const ROUND_MS = 20;

export async function reach(
  link: Link,
  request: Request,
  listener: Listener,
  revival: Revival = "always",
): Promise<void> {
  let starts = 0;
  for (let round = 0; ; round++) {
    try {
      requirePrivate(dirname(link.socketPath));
      return await exchange(link.socketPath, request, listener);
    } catch (error) {
      if (isCrowded(error) && round < MOST_ROUNDS) {
        await systemClock.sleep(ROUND_MS, request.signal);
        continue;
      }
      const mayStart = isUnreached(error) && starts < MOST_STARTS && (revival === "always" || isCrashed(error));
      if (link.start === null || !mayStart) throw error;
      starts += 1;
      // Loaded only now: child_process and the lock cost more than the whole of `reeve list`.
      const { startDaemon } = await import("./start-daemon.ts");
      await startDaemon(link.start, link.socketPath);
    }
  }
}

function requirePrivate(directory: string): void {
  if (!existsSync(directory)) throw notRunning("missing");
  ensurePrivateDir(directory);
}
