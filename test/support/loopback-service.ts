/** A service on loopback that can be stopped, started again at the same port, and made to hang. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface LoopbackService {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function loopbackService(answer: (path: string) => number | "hang" = () => 200): Promise<LoopbackService> {
  let server: Server | null = null;
  let port = 0;
  const start = async (): Promise<void> => {
    const made = createServer((request, response) => {
      const status = answer(request.url ?? "/");
      if (status !== "hang") response.writeHead(status).end("{}");
    });
    await new Promise<void>((resolve, reject) => made.once("error", reject).listen(port, "127.0.0.1", resolve));
    port = (made.address() as AddressInfo).port;
    server = made;
  };
  await start();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    start,
    async stop() {
      const ending = server;
      server = null;
      ending?.closeAllConnections();
      await new Promise((resolve) => (ending === null ? resolve(null) : ending.close(resolve)));
    },
  };
}
