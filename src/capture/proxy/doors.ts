/**
 * The unix sockets at which a route is served for a session that cannot reach
 * the proxy's port, because it has no network. Whoever can open one is in that
 * session's container, or the user: only that session's key counts there, and
 * how many connections it may have open at once is bounded, so that a container
 * that opens them without end takes nothing from others.
 */
import { chmodSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Refusal } from "./refusal.ts";

export interface AgentServer {
  readonly server: Server;
  /** Takes no more connections and closes those that are there. */
  close(): Promise<void>;
}

export interface Doors {
  /** Null: it is open. One that is there already is opened anew where its socket was taken away. */
  open(path: string, key: string): Refusal | null;
  /** Takes no more connections; those that are there go on. */
  shut(key: string): void;
  close(): Promise<void>;
}

/** An agent with many helpers of its own has a few dozen. Each may hold as much memory as the largest head of a request. */
const MOST_CONNECTIONS = 128;

export function createDoors(makeServer: (key: string) => AgentServer): Doors {
  const open = new Map<string, AgentServer & { readonly path: string }>();
  /** Shut, with connections that may still be there. */
  const shut = new Set<AgentServer>();

  function shutDoor(key: string): void {
    const door = open.get(key);
    if (door === undefined) return;
    open.delete(key);
    shut.add(door);
    // Node removes the socket with it. Idle connections would keep it for as long as the agent likes.
    door.server.close(() => shut.delete(door));
    door.server.closeIdleConnections();
  }

  return {
    open(path, key) {
      shutDoor(key);
      const made = makeServer(key);
      let why: string | null = null;
      made.server.on("error", (error) => (why = messageOf(error)));
      made.server.maxConnections = MOST_CONNECTIONS;
      const mask = process.umask(0o177);
      try {
        // One that was killed left its socket, to which nobody listens.
        rmSync(path, { force: true });
        // A unix socket is bound at once; only the news of it comes later.
        made.server.listen({ path, backlog: MOST_CONNECTIONS });
        if (!made.server.listening) throw new Error(why ?? "it cannot be bound");
        chmodSync(path, 0o600);
      } catch (error) {
        return { status: 500, code: "cannot-listen", message: `${path}: ${messageOf(error)}` };
      } finally {
        process.umask(mask);
      }
      open.set(key, { ...made, path });
      return null;
    },
    shut: shutDoor,
    async close() {
      for (const { path } of open.values()) rmSync(path, { force: true });
      await Promise.all([...open.values(), ...shut].map((door) => door.close()));
    },
  };
}
