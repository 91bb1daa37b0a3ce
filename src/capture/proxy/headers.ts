/** Headers as they go on: as they came, in their order and spelling, but for what belongs to one connection. */
import { basic, proxyAuthorization, type Upstream } from "./upstream.ts";

/** Flat: name, value, name, value, as Node has them. */
export type RawHeaders = readonly string[];

export function requestHeaders(raw: RawHeaders, upstream: Upstream, upgrade: "upgrade" | "none"): string[] {
  const ofConnection = named(raw, "connection").flatMap((value) => value.toLowerCase().split(/\s*,\s*/));
  const dropped = new Set(["host", "connection", "proxy-connection", "keep-alive", "proxy-authorization"]);
  // Those that it names are dropped with it, but for what frames the body.
  for (const name of ofConnection) if (!KEPT.has(name)) dropped.add(name);
  if (upgrade === "none") dropped.add("upgrade");
  else dropped.delete("upgrade");
  const headers = ["Host", upstream.url.host];
  each(raw, (name, value) => {
    if (!dropped.has(name.toLowerCase())) headers.push(name, value);
  });
  headers.push("Connection", upgrade === "upgrade" ? "Upgrade" : "keep-alive");
  if (upstream.url.username !== "" && named(raw, "authorization").length === 0)
    headers.push("Authorization", basic(upstream.url));
  const forProxy = upstream.isSecure || upstream.proxy === null ? {} : proxyAuthorization(upstream.proxy);
  for (const [name, value] of Object.entries(forProxy)) headers.push(name, value);
  return headers;
}

const KEPT: ReadonlySet<string> = new Set([
  "",
  "close",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  "te",
  "trailer",
]);

/** Node says itself whether the agent's connection stays open. */
export function responseHeaders(raw: RawHeaders): string[] {
  const headers: string[] = [];
  each(raw, (name, value) => {
    if (!/^(?:connection|proxy-connection)$/i.test(name)) headers.push(name, value);
  });
  return headers;
}

export function named(raw: RawHeaders, name: string): string[] {
  const values: string[] = [];
  each(raw, (key, value) => {
    if (key.toLowerCase() === name) values.push(value);
  });
  return values;
}

export function each(raw: RawHeaders, take: (name: string, value: string) => void): void {
  for (let index = 0; index + 1 < raw.length; index += 2) take(raw[index] ?? "", raw[index + 1] ?? "");
}

/** A head as it is on the wire. */
export function headText(status: number, reason: string, headers: RawHeaders): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  each(headers, (name, value) => (text += `${name}: ${value}\r\n`));
  return `${text}\r\n`;
}
