/**
 * `reeve mcp`: the server for one client, on stdin and stdout. It ends as soon
 * as the client closes stdin. stdout carries only the protocol.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Backend } from "./backend.ts";
import { createLineTransport } from "./line-transport.ts";
import { createMcpServer } from "./server.ts";

export async function serveOverStdio(backend: Backend, version: string): Promise<void> {
  const { transport, ended } = createLineTransport(process.stdin, process.stdout);
  const handle = serveStdio(() => createMcpServer({ backend, version }), {
    transport,
    onerror: (error) => backend.note("a message could not be handled", error),
  });
  await ended;
  await handle.close();
}
