/**
 * One MCP server for one connection, or for one request over HTTP. It knows
 * the catalogue and a backend, and nothing of transports. It serves the current
 * revision of the protocol and the older ones; the SDK sorts them out.
 */
import { Server } from "@modelcontextprotocol/server";
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Backend } from "./backend.ts";
import { CATALOGUE } from "./catalogue.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { readResource, RESOURCE_TEMPLATES, RESOURCES } from "./resources.ts";
import { entryFor, inputOf, resultOf } from "./tool-call.ts";
import { waitFor } from "./wait.ts";
import type { TellProgress } from "./wait.ts";

export interface ServerParts {
  readonly backend: Backend;
  readonly version: string;
  /** What this connection subscribed to by `resources/subscribe`; null where no connection outlives a request. */
  readonly subscribed: Set<string> | null;
  /** Whether updates of resources can be told at all. */
  readonly canSubscribe: boolean;
}

export function createMcpServer({ backend, version, subscribed, canSubscribe }: ServerParts): Server {
  const server = new Server(
    { name: "reeve", title: "Reeve", version },
    {
      capabilities: { tools: {}, resources: canSubscribe ? { subscribe: true } : {} },
      instructions: INSTRUCTIONS,
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: toolsFor(backend) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const entry = entryFor(params.name);
    const { signal } = context.mcpReq;
    return await resultOf(backend, async () => {
      const input = await inputOf(entry, params.arguments ?? {}, backend);
      if (entry.verb === "waitForSession") return await waitFor(backend, input, signal, progressOf(context));
      return await backend.call(entry.verb, input, signal);
    });
  });
  server.setRequestHandler("resources/list", () => ({ resources: RESOURCES }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq }) => {
    const text = await readResource(backend, uri, mcpReq.signal);
    return { contents: [{ uri, mimeType: "application/json", text }] };
  });
  if (subscribed !== null) {
    server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
      subscribed.add(uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      subscribed.delete(uri);
      return {};
    });
  }
  return server;
}

function toolsFor({ isSession }: Backend) {
  const shown = isSession ? CATALOGUE.filter(({ isForSessions }) => isForSessions) : CATALOGUE;
  return shown.map(({ tool }) => ({ ...tool, annotations: { ...tool.annotations } }));
}

/** Null where the client asked for none. */
function progressOf({ mcpReq }: ServerContext): TellProgress | null {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  return (progress, total, message) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total, message } });
}
