/** A fetch that knows a unix socket: all that a generated client needs besides what was generated. */
import { request } from "node:http";

export function fetchOver(socketPath: string): typeof fetch {
  return async (input, init) => {
    const { method, url, headers, body } = new Request(input, init);
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
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("error", reject);
          response.once("end", () => {
            const type = response.headers["content-type"] ?? "";
            const answer = { status: response.statusCode ?? 0, headers: { "content-type": type } };
            resolve(new Response(Buffer.concat(chunks), answer));
          });
        },
      );
      sent.once("error", reject);
      sent.end(text);
    });
  };
}
