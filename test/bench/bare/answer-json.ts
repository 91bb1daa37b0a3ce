/** The least a JSON server on a unix socket can be; says `ready` on descriptor 3. */
import { writeSync } from "node:fs";
import { createServer } from "node:http";

export function answerJson(socketPath: string, body: () => string): void {
  const server = createServer((_request, response) => {
    const text = body();
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(socketPath, () => void writeSync(3, "ready\n"));
}
