/** What answers agents, on loopback and at doors: only to where a route leads. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import { type Destination, destinationOf, isRefusal } from "./destination.ts";
import { type AgentServer, createDoors, type Doors } from "./doors.ts";
import { forward, type Heard, MOST_HEADER_BYTES } from "./forward.ts";
import { each } from "./headers.ts";
import { type Refusal, refuse, refuseOnSocket } from "./refusal.ts";
import type { Observe, OpenRoute, Routes } from "./routes.ts";
import { openTunnel } from "./tunnel.ts";

export interface ProxyServer {
  readonly port: number;
  readonly doors: Doors;
  /** Takes no more connections and closes those that are there. */
  close(): Promise<void>;
}

export async function startProxyServer(parts: {
  readonly routes: Routes;
  readonly port: number;
  readonly clock: Clock;
  readonly observe: Observe;
}): Promise<ProxyServer> {
  let port = parts.port;

  function heardOf({ route }: OpenRoute, upstream: string): Heard {
    const about = (): { readonly sessionId: string; readonly at: string } => ({
      sessionId: route.sessionId,
      at: new Date(parts.clock.now()).toISOString(),
    });
    return {
      response(exchange, status, raw) {
        const headers = limitsIn(raw, route.limitHeaders ?? []);
        if (headers.length === 0 && !LIMITED.has(status)) return;
        parts.observe({ observed: "limits", ...about(), exchange, upstream, status, headers });
      },
      failed: (exchange, { code, message }) =>
        parts.observe({ observed: "upstream-failed", ...about(), exchange, code, message }),
    };
  }

  /** Takes requests with this key only; null: with any. */
  function makeServer(only: string | null): AgentServer {
    const found = (incoming: IncomingMessage): Destination | Refusal =>
      destinationOf(incoming, parts.routes, port, only);
    const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      const to = found(incoming);
      if (isRefusal(to)) refuse(outgoing, to);
      else forward(to, incoming, outgoing, heardOf(to.route, to.upstream.name));
    };
    const server = createServer({
      maxHeaderSize: MOST_HEADER_BYTES,
      noDelay: true,
      // The upstream and the agent decide how long anything may take.
      requestTimeout: 0,
      keepAliveTimeout: 0,
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
    });
    server.timeout = 0;
    // Node forgets those that became websockets.
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    server.on("request", onRequest);
    // Whether it may go on with its body is for the upstream to say.
    server.on("checkContinue", onRequest);
    server.on("checkExpectation", onRequest);
    server.on("upgrade", (incoming, socket: Socket, head) => {
      const to = found(incoming);
      if (isRefusal(to)) refuseOnSocket(socket, to);
      else openTunnel(to, incoming, socket, head, heardOf(to.route, to.upstream.name));
    });
    server.on("connect", (incoming, socket: Socket) => {
      const to = found(incoming);
      if (isRefusal(to)) refuseOnSocket(socket, to);
      else socket.destroy();
    });
    const close = (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    return { server, close };
  }

  const loopback = makeServer(null);
  await listening(loopback.server, parts.port);
  ({ port } = loopback.server.address() as AddressInfo);
  const doors = createDoors(makeServer);
  return {
    port,
    doors,
    close: async () => void (await Promise.all([loopback.close(), doors.close()])),
  };
}

const LIMITED: ReadonlySet<number> = new Set([429, 503, 529]);

function limitsIn(raw: readonly string[], more: readonly string[]): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  each(raw, (name, value) => {
    const key = name.toLowerCase();
    if (/^retry-after|ratelimit|rate-limit/.test(key) || more.some((pattern) => fits(key, pattern)))
      found.push([key, value]);
  });
  return found;
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port, backlog: 4_096 }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
