/** A fetch that knows a unix socket: all that a generated client, or a client of MCP, needs besides itself. */
import { request } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

export function fetchOver(socketPath: string): typeof fetch {
  return async (input, init) => {
    const { method, url, headers, body, signal } = new Request(input, init);
    const { pathname, search, hostname } = new URL(url);
    const text = body === null ? undefined : await new Response(body).text();
    const length = text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) };
    return await new Promise((resolve, reject) => {
      const sent = request(
        {
          socketPath,
          method,
          path: `${pathname}${search}`,
          headers: { ...Object.fromEntries(headers), ...length, host: hostname },
          signal,
        },
        (response) => {
          const type = response.headers["content-type"] ?? "";
          const status = response.statusCode ?? 0;
          const hasBody = status !== 202 && status !== 204;
          if (!hasBody) response.resume();
          const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>;
          resolve(new Response(hasBody ? stream : null, { status, headers: { "content-type": type } }));
        },
      );
      sent.once("error", reject);
      sent.end(text);
    });
  };
}
