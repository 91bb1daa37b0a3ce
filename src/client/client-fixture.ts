/** For tests: a real node:http server on a unix socket in a private directory, and a client of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "./create-client.ts";
import type { Client } from "./create-client.ts";

export interface Fixture {
  readonly directory: string;
  readonly socketPath: string;
  readonly client: Client;
  serve(listener: RequestListener): Promise<Server>;
  close(): Promise<void>;
}

export function createFixture(): Fixture {
  const directory = mkdtempSync(join(tmpdir(), "reeve-"));
  const socketPath = join(directory, "reeve.sock");
  const servers: Server[] = [];
  return {
    directory,
    socketPath,
    client: createClient({ socketPath, enduranceMs: 1_000 }, { daemonCommand: () => [], environment: {} }),
    serve: (listener) =>
      new Promise((resolve) => {
        const server = createServer(listener);
        servers.push(server);
        server.listen(socketPath, () => resolve(server));
      }),
    async close() {
      await Promise.all(servers.map(stopServer));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function stopServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
