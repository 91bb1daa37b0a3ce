/**
 * Which process our tmux server is, kept in `<runDir>/tmux-server.json` so that
 * the next daemon can tell "gone" from "cannot be asked". One JSON object: {
 * "pid": number, "startTicks": string }. Written whole and renamed. The file
 * may be lost, damaged or old. So before Reeve says that no server runs, it
 * looks for one among all processes, by the socket in its command line.
 */
import { join } from "node:path";
import { writeFileAtomicSync } from "../../platform/atomic-file.ts";
import { readOwnFile } from "../../platform/own-file.ts";
import { withDescriptor } from "../../platform/descriptors.ts";
import {
  isAlive,
  isDead,
  listProcesses,
  readCommandLine,
  readProcess,
  sendSignal,
} from "../../platform/process-table.ts";

const LARGEST_BYTES = 4_096;

export interface ServerIdentity {
  readonly pid: number;
  readonly startTicks: string;
}

/** Each throws where what it needs cannot be read: then nothing is known. */
export interface RememberedServer {
  /** The one that ran last, whatever became of it; null where there never was one. */
  last(): ServerIdentity | null;
  /** The one that runs; null is proven. */
  living(): ServerIdentity | null;
  /** Remembers the server that answered under this pid; also throws where the disk does not take it. */
  write(pid: number): void;
}

export function rememberServerIn(runDir: string, socket: string): RememberedServer {
  const path = join(runDir, "tmux-server.json");
  let known: ServerIdentity | null | undefined;
  /** The file says the same. */
  let isWritten = false;
  /** It was looked for among all processes since the last one answered; only this daemon could have started another. */
  let isSearched = false;

  const last = (): ServerIdentity | null => {
    if (known !== undefined) return known;
    known = readIdentity(path);
    isWritten = known !== null;
    return known;
  };

  return {
    last,
    living() {
      const server = last();
      if (server !== null && isAlive(server.pid, server.startTicks)) return server;
      if (isSearched) return null;
      const found = findServer(socket);
      isSearched = true;
      if (found !== null) [known, isWritten] = [found, false];
      return found;
    },
    write(pid) {
      const row = readProcess(pid);
      if (row === null) return;
      isSearched = false;
      // A daemon that starts finds the server of the one before it: nothing to write.
      const before = last();
      if (isWritten && before?.pid === pid && before.startTicks === row.startTicks) return;
      known = { pid, startTicks: row.startTicks };
      isWritten = false;
      writeFileAtomicSync(path, `${JSON.stringify(known)}\n`);
      isWritten = true;
    },
  };
}

/** tmux makes its socket anew on SIGUSR1. Only for a process proven to be our server. */
export function askForNewSocket(server: ServerIdentity, socket: string): boolean {
  return readCommandLine(server.pid).includes(socket) && sendSignal(server.pid, server.startTicks, "SIGUSR1");
}

/** Null where there is none, or none that makes sense; what cannot be read is thrown. */
function readIdentity(path: string): ServerIdentity | null {
  const text = withDescriptor(() => readOwnFile(path, LARGEST_BYTES));
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("pid" in value) || !("startTicks" in value)) return null;
    const { pid, startTicks } = value;
    return typeof pid === "number" && typeof startTicks === "string" ? { pid, startTicks } : null;
  } catch {
    return null; // cut short, or not ours
  }
}

/** Clients name the socket too, but only a server is given a configuration; a pane it is just starting is younger. */
function findServer(socket: string): ServerIdentity | null {
  const [oldest] = listProcesses()
    .filter((row) => !isDead(row) && readCommandLine(row.pid).includes(` -S ${socket} -f `))
    .toSorted((one, other) => Number(one.startTicks) - Number(other.startTicks));
  return oldest === undefined ? null : { pid: oldest.pid, startTicks: oldest.startTicks };
}
