/**
 * Notices that nobody is left to read what a waiting command will print. Without it the command, and its connection to
 * the daemon, would stay until the answer comes, which may be never. Loaded only when a command takes long.
 */
import { spawn } from "node:child_process";
import { fstatSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { isUnread } from "./output.ts";

const LOOK_MS = 2_000;

/** `parent`: of this process when it began. */
export function watchReader(parent: number, onGone: () => void): void {
  const timer = setInterval(() => {
    if (isCut()) return onGone();
    const isOrphan = process.ppid !== parent || parent === 1; // it may have been one before it could look
    if (!isOrphan || !fstatSync(1).isFIFO()) return;
    clearInterval(timer);
    watchPipe(onGone);
  }, LOOK_MS).unref();
}

/**
 * Writing nothing tells it of a terminal that hung up, and of a socket, which is what some programs give to those they
 * start. A pipe takes it silently. A living terminal is left alone: it may stop whoever writes from the background.
 */
function isCut(): boolean {
  try {
    if (isatty(1)) return false;
    writeSync(1, Buffer.alloc(0));
    return false;
  } catch (error) {
    return isUnread(1, error);
  }
}

/**
 * Node cannot ask a pipe whether anybody reads it. GNU tail (coreutils 8.28 or newer) ends with SIGPIPE when nobody
 * does, and together with us. Any other end of it says nothing, and the command goes on. It is only asked once the
 * parent is gone: while the parent lives, the command is not left behind.
 */
function watchPipe(onGone: () => void): void {
  const tail = spawn("tail", ["--follow", `--pid=${process.pid}`, "/dev/null"], { stdio: ["ignore", 1, "ignore"] });
  tail.unref();
  tail.on("error", () => undefined);
  tail.on("exit", (_code, signal) => {
    if (signal === "SIGPIPE") onGone();
  });
  process.on("exit", () => tail.kill());
}
