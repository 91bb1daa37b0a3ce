/**
 * Limits how many callers may be connected at once, so that the daemon keeps
 * the descriptors that it needs for its sessions. If there are more,
 * connections that have not sent a request yet are closed, the one that was
 * silent for longest first. A caller that waits for its answer is never closed;
 * if there are only such callers, the newest is told to try again.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { descriptorLimit, descriptorsInUse } from "../../platform/descriptors.ts";
import { ReeveError } from "../../platform/reeve-error.ts";

export interface ConnectionCap {
  /** Throws what to answer to a caller for whom there is no room. */
  admit(request: IncomingMessage): void;
}

/** For a runtime's client, a program that is asked for its version, and a few files at once. */
const KEPT_FREE = 24;
/** This many are served even if nothing is free: the person who fixes it must get through. */
const ALWAYS_SERVED = 4;

export interface Supply {
  readonly limit: () => number;
  readonly inUse: () => number;
}

const OWN: Supply = { limit: descriptorLimit, inUse: descriptorsInUse };

export function capConnections(server: Server, supply = OWN): ConnectionCap {
  /** Longest silent first; with the request that is being received or answered. */
  const callers = new Map<Socket, IncomingMessage | null>();
  const refused = new WeakSet<Socket>();

  const becomeNewest = (socket: Socket, request: IncomingMessage | null): void => {
    callers.delete(socket);
    callers.set(socket, request);
  };

  const isCrowded = (): boolean => {
    if (callers.size < ALWAYS_SERVED) return false;
    const limit = supply.limit();
    // Counting costs more than answering: not while callers are few for such a limit.
    if (callers.size < limit / 8) return false;
    return limit - supply.inUse() < Math.min(KEPT_FREE, limit / 4);
  };

  const cutOne = (): boolean => {
    for (const [socket, request] of callers) {
      if (request?.complete === true) continue;
      callers.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  };

  server.on("connection", (socket: Socket) => {
    while (isCrowded()) {
      if (cutOne()) continue;
      refused.add(socket);
      break;
    }
    callers.set(socket, null);
    socket.once("close", () => callers.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    becomeNewest(socket, request);
    response.once("close", () => {
      if (callers.has(socket)) becomeNewest(socket, null);
    });
  });

  return {
    admit({ socket }) {
      if (!refused.has(socket)) return;
      throw new ReeveError({
        code: "daemon-crowded",
        kind: "unavailable",
        message: "The daemon has too many callers at once and no file descriptors left for another; try again.",
      });
    },
  };
}
