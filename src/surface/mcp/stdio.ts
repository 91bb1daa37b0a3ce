/**
 * `reeve mcp`: the server for one client, on stdin and stdout. It ends as soon
 * as the client closes stdin. stdout carries only the protocol.
 */
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Backend } from "./backend.ts";
import { CHANNEL_CAPABILITY, CHANNEL_METHOD, openChannel } from "./channel.ts";
import type { LineTransport } from "./line-transport.ts";
import { followResources } from "./resource-feed.ts";
import { createMcpServer } from "./server.ts";

export async function serveOverStdio(
  { transport, ended, overhear }: LineTransport,
  backend: Backend,
  version: string,
): Promise<void> {
  const subscribed = new Set<string>();
  /** Requests of the current protocol that listen; the SDK answers them, and sorts out which update is for which. */
  const listening = new Set<unknown>();
  let server: Server | null = null;
  let isModern = false;
  let stop: (() => void) | null = null;

  const tell = (uri: string): void => {
    if (!isModern && !subscribed.has(uri)) return;
    server?.sendResourceUpdated({ uri }).catch((error: unknown) => backend.note("an update could not be told", error));
  };
  const followWhereNeeded = (): void => {
    const isNeeded = listening.size + subscribed.size > 0;
    if (isNeeded) stop ??= followResources(backend, tell);
    if (isNeeded || stop === null) return;
    stop();
    stop = null;
  };

  overhear((message) => {
    const { method, id, params } = message as { method?: string; id?: unknown; params?: { requestId?: unknown } };
    if (method === "subscriptions/listen") listening.add(id);
    else if (method === "notifications/cancelled") listening.delete(params?.requestId);
    else if (method !== "resources/subscribe" && method !== "resources/unsubscribe") return;
    // What was asked for is known once it has been handled.
    setImmediate(followWhereNeeded);
  });
  const handle = serveStdio(
    ({ era }) => {
      isModern = era === "modern";
      server = createMcpServer({ backend, version, era, subscribed: isModern ? null : subscribed });
      return server;
    },
    { transport, onerror: (error) => backend.note("a message could not be handled", error) },
  );
  await ended;
  listening.clear();
  subscribed.clear();
  followWhereNeeded();
  await handle.close();
}

/**
 * The same for a client that is to be woken. Claude Code takes what is pushed
 * only from a server of the older protocols, so this one knows no other.
 */
export async function serveChannel(
  { transport, ended }: LineTransport,
  backend: Backend,
  version: string,
): Promise<void> {
  const channel = openChannel(backend, (content, meta) =>
    server.notification({ method: CHANNEL_METHOD, params: { content, meta } }),
  );
  const experimental = CHANNEL_CAPABILITY;
  const server = createMcpServer({
    backend: channel.backend,
    version,
    era: "legacy",
    subscribed: null,
    experimental,
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is no EventTarget
  server.onerror = (error) => backend.note("a message could not be handled", error);
  await server.connect(transport);
  await ended;
  channel.close();
  await server.close();
}
