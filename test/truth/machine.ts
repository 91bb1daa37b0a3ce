/** How late this machine is: the worst delay of a timer or of a process's start, so that patience grows with it. */
import { spawn } from "node:child_process";

export interface Machine {
  /** The worst delay since `at`. */
  lagSince(at: number): number;
  stop(): void;
}

const TIMER_MS = 250;
const SPAWN_EVERY = 8;
/** What starting a program takes on a quiet machine. */
const SPAWN_MS = 30;

export function watchMachine(): Machine {
  const seen: { readonly at: number; readonly lagMs: number }[] = [];
  let dueAt = performance.now() + TIMER_MS;
  let round = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    seen.push({ at: Date.now(), lagMs: Math.max(0, now - dueAt) });
    dueAt = now + TIMER_MS;
    if (round++ % SPAWN_EVERY !== 0) return;
    const child = spawn("true", { stdio: "ignore" });
    child.once("error", () => undefined);
    child.once("close", () => seen.push({ at: Date.now(), lagMs: Math.max(0, performance.now() - now - SPAWN_MS) }));
  }, TIMER_MS);
  timer.unref();
  return {
    lagSince: (at) => Math.round(seen.reduce((worst, one) => (one.at >= at ? Math.max(worst, one.lagMs) : worst), 0)),
    stop: () => clearInterval(timer),
  };
}
