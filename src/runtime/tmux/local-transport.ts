/**
 * Programs as children of this process, which end with it. A tmux control
 * client that outlives its daemon with output in flight would hold back every
 * session: the server (3.3a) waits for it to read, and reads from no pane
 * meanwhile, so that whatever prints stands still.
 */
import { spawn, type ChildProcess } from "node:child_process";
import type { Transport } from "../transport.ts";

/** For the last words of a program that ended, which are in the pipe already. */
const CLOSE_MS = 100;

/**
 * The kernel kills it with its parent, whatever becomes of that, where the machine has a setpriv that can ask for it
 * (util-linux; not BusyBox). Elsewhere the next daemon ends it (abandoned-clients.ts). The program keeps the process id.
 */
const WITH_PARENT = 'setpriv --pdeathsig KILL true 2> /dev/null && exec setpriv --pdeathsig KILL "$@"; exec "$@"';

export function localTransport(environment: Readonly<Record<string, string>>): Transport {
  return {
    openStream(argv, onData) {
      const words = ["-c", WITH_PARENT, "reeve", ...argv];
      // Out of file descriptors, it comes without pipes and says so by an event.
      const child: ChildProcess = spawn("/bin/sh", words, {
        cwd: "/",
        env: environment,
        stdio: ["pipe", "pipe", "pipe"],
      });
      child.stdout?.on("data", onData);
      // The exit that follows says why.
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.on("error", () => {});
      return {
        pid: child.pid,
        closed: exitOf(child, argv[0] ?? ""),
        write: (text) => void child.stdin?.write(text),
        close() {
          child.stdin?.end();
          child.kill("SIGTERM");
        },
      };
    },
  };
}

function exitOf(child: ChildProcess, command: string): Promise<string> {
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < 1_000) complaint += chunk.toString("utf8");
  });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`${command} could not be run: ${error.message}`));
    const end = (code: number | null, signal: string | null): void => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(complaint.trim() || `the tmux control client ended (${signal ?? `status ${code}`})`);
    };
    child.once("close", end);
    // A tmux server holds its client's pipes too: one that hangs keeps them open for good.
    child.once("exit", (code, signal) => setTimeout(end, CLOSE_MS, code, signal));
  });
}
