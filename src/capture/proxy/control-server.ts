/** The daemon's side of the proxy: commands and observations as JSON lines; see contract.ts. */
import { chmodSync, rmSync, statSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { Answer, Command, Observation, ProxyStatus, Told } from "./contract.ts";
import type { Refusal } from "./refusal.ts";

export interface ControlServer {
  tell(observation: Observation): void;
  readonly connections: number;
  /** Whether the path still leads here. */
  isReachable(): boolean;
  close(): Promise<void>;
}

export interface ControlParts {
  readonly path: string;
  status(): ProxyStatus;
  /** Null: it was done. */
  run(command: Command): Refusal | null;
  /** For a connection that is new. */
  greetings(): readonly Observation[];
  /** A connection came or went. */
  changed(): void;
}

/** A route with many secrets and a long certificate path is a few kilobytes. */
const LONGEST_COMMAND = 4 * 1_048_576;
/** What waits for a daemon that does not read; more is not kept for it. */
const MOST_UNREAD = 1_048_576;

export async function startControlServer(parts: ControlParts): Promise<ControlServer> {
  rmSync(parts.path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      parts.changed();
    });
    let unread = 0;
    socket.on("data", (bytes: Buffer) => {
      unread = bytes.includes(0x0a) ? 0 : unread + bytes.length;
      if (unread > LONGEST_COMMAND) socket.destroy();
    });
    createInterface({ input: socket }).on("line", (line) => write(socket, answerTo(line)));
    for (const observation of parts.greetings()) write(socket, observation);
    parts.changed();
  });

  function answerTo(line: string): Answer {
    let id = 0;
    try {
      const command = JSON.parse(line) as Command;
      id = command.id;
      const refusal = parts.run(command);
      if (refusal === null) return { id, ok: true, status: parts.status() };
      return { id, ok: false, error: { code: refusal.code, message: refusal.message } };
    } catch (error) {
      return { id, ok: false, error: { code: "command-unreadable", message: messageOf(error) } };
    }
  }

  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(parts.path, resolve);
    });
  } finally {
    process.umask(mask);
  }
  chmodSync(parts.path, 0o600);
  const { ino } = statSync(parts.path);
  return {
    tell(observation) {
      for (const socket of sockets) if (socket.writableLength < MOST_UNREAD) write(socket, observation);
    },
    get connections() {
      return sockets.size;
    },
    isReachable: () => statSync(parts.path, { throwIfNoEntry: false })?.ino === ino,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // What was answered is sent first.
        for (const socket of sockets) socket.destroySoon();
      }),
  };
}

export class AlreadyRunning extends Error {}

/** To be asked before anything else is opened: the one that runs has the port, too. */
export async function assertNoneRuns(path: string): Promise<void> {
  if (await answers(path)) throw new AlreadyRunning(`A capture proxy answers at ${path}.`);
}

function write(socket: Socket, told: Told): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(told)}\n`);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error) => {
      // Nobody is there, or what is there is no socket.
      if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(errnoOf(error) ?? "")) resolve(false);
      else reject(error);
    });
  });
}
