/**
 * Which process our tmux server is, kept in `<runDir>/tmux-server.json` so
 * that the next daemon can tell "gone" from "cannot be asked". One JSON object:
 * { "pid": number, "startTicks": string }. Written whole and renamed; a file
 * that does not read as this counts as none.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readCommandLine, readProcess, sendSignal } from "../../platform/process-table.ts";

export interface ServerIdentity {
  readonly pid: number;
  readonly startTicks: string;
}

export interface RememberedServer {
  read(): ServerIdentity | null;
  /** Remembers the server that answered under this pid; throws where the disk does not take it. */
  write(pid: number): void;
}

export function rememberServerIn(runDir: string): RememberedServer {
  const path = join(runDir, "tmux-server.json");
  let known: ServerIdentity | null | undefined;
  return {
    read() {
      if (known === undefined) known = readIdentity(path);
      return known;
    },
    write(pid) {
      const row = readProcess(pid);
      if (row === null) return;
      const identity = { pid, startTicks: row.startTicks };
      const earlier = known ?? readIdentity(path);
      known = identity;
      if (earlier?.pid === pid && earlier.startTicks === row.startTicks) return;
      const fresh = `${path}.${process.pid}`;
      writeFileSync(fresh, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
      renameSync(fresh, path);
    },
  };
}

export function isServerAlive(server: ServerIdentity): boolean {
  return isAlive(server.pid, server.startTicks);
}

/** tmux makes its socket anew on SIGUSR1. Only for a process proven to be our server. */
export function askForNewSocket(server: ServerIdentity, socket: string): boolean {
  return readCommandLine(server.pid).includes(socket) && sendSignal(server.pid, server.startTicks, "SIGUSR1");
}

function readIdentity(path: string): ServerIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null || !("pid" in value) || !("startTicks" in value)) return null;
    const { pid, startTicks } = value;
    return typeof pid === "number" && typeof startTicks === "string" ? { pid, startTicks } : null;
  } catch {
    return null;
  }
}
