/** Where a request may go: the key and the upstream's name in its path decide, and nothing else in it. */
import type { IncomingMessage } from "node:http";
import type { Refusal } from "./refusal.ts";
import type { OpenRoute, Routes } from "./routes.ts";
import type { Upstream } from "./upstream.ts";

export interface Destination {
  readonly route: OpenRoute;
  readonly upstream: Upstream;
  /** As it stands in the request to the upstream, or to the proxy before it. */
  readonly path: string;
  /** The whole address, for the record. */
  readonly url: string;
}

/** `only`: the one key that counts where the request came in; null: any. */
export function destinationOf(
  { url = "", headers, method }: IncomingMessage,
  routes: Pick<Routes, "find">,
  port: number,
  only: string | null = null,
): Destination | Refusal {
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`)
    return refusal(403, "wrong-host", `This is a capture proxy of Reeve; it answers to 127.0.0.1:${port} only.`);
  // A request for `http://elsewhere/` or to CONNECT: this is no proxy for whoever asks.
  if (!url.startsWith("/") || method === "CONNECT")
    return refusal(400, "not-a-path", "This is a capture proxy of Reeve; it forwards to fixed addresses only.");
  const [, key = "", name = "", rest = ""] = /^\/([^/?]*)(?:\/([^/?]*))?(.*)$/s.exec(url) ?? [];
  const route = only === null || only === key ? routes.find(key) : undefined;
  if (route === undefined)
    return refusal(404, "unknown-route", "No session of Reeve has this address, or it has ended. Start it again.");
  const upstream = route.upstream(name);
  if (upstream === undefined)
    return refusal(404, "unknown-upstream", `This session has no upstream ${JSON.stringify(name.slice(0, 40))}.`);
  const path = `${upstream.basePath}${rest}`;
  const target = path.startsWith("/") ? path : `/${path}`;
  const address = `${upstream.url.protocol}//${upstream.url.host}${target}`;
  // A proxy for plain http is told the whole address.
  return { route, upstream, path: upstream.proxy !== null && !upstream.isSecure ? address : target, url: address };
}

export function isRefusal(found: Destination | Refusal): found is Refusal {
  return "code" in found;
}

function refusal(status: number, code: string, message: string): Refusal {
  return { status, code, message };
}
