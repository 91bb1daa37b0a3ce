/**
 * One MCP server for one connection, or for one request over HTTP. It knows
 * the catalogue and a backend, and nothing of transports. It serves the current
 * revision of the protocol and the older ones; the SDK sorts them out.
 */
import { Server } from "@modelcontextprotocol/server";
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Backend } from "./backend.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { capabilitiesFor, type Era, RESOURCE_TEMPLATES, RESOURCES, serverName, toolsFor } from "./introduction.ts";
import { readResource } from "./resources.ts";
import type { Tasks } from "./tasks.ts";
import { createTasks, TASK_SCHEMAS, wantsTasks } from "./tasks.ts";
import { entryFor, inputOf, resultOf, shownOf } from "./tool-call.ts";
import { protocolErrorOf } from "./tool-error.ts";
import { waitFor } from "./wait.ts";
import type { TellProgress } from "./wait.ts";

export interface ServerParts {
  readonly backend: Backend;
  readonly version: string;
  readonly era: Era;
  /** What a client of the older protocols subscribed to; null where no connection outlives a request. */
  readonly subscribed: Set<string> | null;
  /** What only some clients know. */
  readonly experimental?: Record<string, Record<string, never>>;
}

export function createMcpServer({ backend, version, era, subscribed, experimental }: ServerParts): Server {
  const isModern = era === "modern";
  const server = new Server(serverName(version), {
    capabilities: {
      ...capabilitiesFor(era, subscribed !== null),
      ...(experimental === undefined ? {} : { experimental }),
    },
    instructions: INSTRUCTIONS,
  });
  const tasks = createTasks(backend);
  server.setRequestHandler("tools/list", () => ({ tools: toolsFor(backend) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const entry = entryFor(params.name);
    const { signal } = context.mcpReq;
    return await resultOf(backend, async () => {
      const input = await inputOf(entry, params.arguments ?? {}, backend);
      if (entry.verb !== "waitForSession") return shownOf(entry, await backend.call(entry.verb, input, signal));
      if (isModern && wantsTasks(context)) return await tasks.begin(input, signal);
      return await waitFor(backend, input, signal, progressOf(context));
    });
  });
  if (isModern) serveTasks(server, tasks);
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

function serveTasks(server: Server, tasks: Tasks): void {
  server.setRequestHandler("tasks/get", TASK_SCHEMAS, async ({ taskId }, { mcpReq }) => {
    try {
      return await tasks.get(taskId, mcpReq.signal);
    } catch (error) {
      throw protocolErrorOf(error);
    }
  });
  // A wait asks its client nothing, so there is nothing that an update could bring.
  for (const [method, act] of [["tasks/update", tasks.require] as const, ["tasks/cancel", tasks.cancel] as const])
    server.setRequestHandler(method, TASK_SCHEMAS, ({ taskId }) => {
      try {
        act(taskId);
        return {};
      } catch (error) {
        throw protocolErrorOf(error);
      }
    });
}

/** Null where the client asked for none. */
function progressOf({ mcpReq }: ServerContext): TellProgress | null {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  return (progress, total, message) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total, message } });
}
