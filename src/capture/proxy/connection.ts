/**
 * The connections to upstreams that belong to one connection of an agent. They
 * live as long as that one, and that one only as long as they do: an agent and
 * an upstream see of each other's idle connections what they would see without
 * a proxy between them.
 */
import type { Agent } from "node:http";
import type { Socket } from "node:net";
import { createConnections, type Upstream } from "./upstream.ts";

export interface AgentConnection {
  /** Requests under way on it. */
  active: number;
  to(upstream: Upstream): Agent;
}

const connections = new WeakMap<Socket, AgentConnection>();

export function connectionOf(socket: Socket): AgentConnection {
  const found = connections.get(socket);
  if (found !== undefined) return found;
  const agents = new Map<Upstream, Agent>();
  const connection: AgentConnection = {
    active: 0,
    to(upstream) {
      const known = agents.get(upstream);
      if (known !== undefined) return known;
      const made = createConnections(upstream, () => {
        if (connection.active === 0) socket.end();
      });
      agents.set(upstream, made);
      return made;
    },
  };
  connections.set(socket, connection);
  socket.once("close", () => {
    for (const agent of agents.values()) agent.destroy();
  });
  return connection;
}

/** Breaks a connection off so that the other side sees it. A unix socket knows no reset: there it is an end. */
export function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
