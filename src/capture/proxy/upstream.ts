/**
 * How a route's upstreams are reached: directly or by the user's HTTP proxy,
 * with TLS where the URL says so. Certificates are checked against the
 * system's, Node's own and the user's authorities, and nothing else is accepted.
 */
import { Agent, request as httpRequest } from "node:http";
import { readFileSync } from "node:fs";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  rootCertificates,
  type SecureContext,
} from "node:tls";
import type { RouteNetwork } from "./contract.ts";

export interface Upstream {
  readonly name: string;
  readonly network: RouteNetwork;
  readonly url: URL;
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  /** The base's path, without a slash at its end. */
  readonly basePath: string;
  /** The HTTP proxy by which it is reached, or null. */
  readonly proxy: URL | null;
}

export function upstreamOf(name: string, base: string, network: RouteNetwork): Upstream {
  const url = new URL(base);
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  // As a socket wants it: IPv6 addresses without their brackets.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const proxy = isSecure ? network.httpsProxy : network.httpProxy;
  const isDirect = proxy === null || proxy === "" || isExempt(host, port, network.noProxy ?? "");
  return {
    name,
    network,
    url,
    isSecure,
    host,
    port,
    basePath: url.pathname.replace(/\/+$/, ""),
    proxy: isDirect ? null : new URL(proxy.includes("://") ? proxy : `http://${proxy}`),
  };
}

/** NO_PROXY, as curl and the agents read it: `*`, hosts, domains with or without a dot, each perhaps with a port. */
export function isExempt(host: string, port: number, noProxy: string): boolean {
  const name = host.toLowerCase();
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, bare = entry, only] =
        /^(.*?[^:]|\[.*\])(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
      if (only !== undefined && Number(only) !== port) return false;
      const domain = bare.replace(/^\*?\./, "").replace(/^\[(.*)\]$/, "$1");
      return name === domain || (isIP(name) === 0 && name.endsWith(`.${domain}`));
    });
}

/** Keeps connections to one upstream open. `onClose` hears when one of them is gone. */
export function createConnections(upstream: Upstream, onClose: () => void): Agent {
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = (_options, give) => {
    connectTo(upstream).then(
      (socket) => {
        socket.once("close", onClose);
        give?.(null, socket);
      },
      (error: Error) => give?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
  return agent;
}

async function connectTo(upstream: Upstream): Promise<Duplex> {
  const { proxy, isSecure, host, port, network } = upstream;
  if (proxy === null && !isSecure) return connected(connectTcp({ host, port, noDelay: true }), "connect");
  if (proxy !== null && !isSecure) return toProxy(proxy, network);
  const secureContext = trusted(network.caFile);
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const options = { ...servername, secureContext, ALPNProtocols: ["http/1.1"] };
  if (proxy === null) return connected(connectTls({ ...options, host, port }).setNoDelay(true), "secureConnect");
  const socket = await tunnel(proxy, upstream);
  return connected(connectTls({ ...options, host, socket }), "secureConnect");
}

/** A proxy may itself be reached by TLS. */
function toProxy(proxy: URL, network: RouteNetwork): Promise<Socket> {
  const isSecure = proxy.protocol === "https:";
  const host = proxy.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = proxy.port === "" ? (isSecure ? 443 : 80) : Number(proxy.port);
  if (!isSecure) return connected(connectTcp({ host, port, noDelay: true }), "connect");
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const options = { host, port, ...servername, secureContext: trusted(network.caFile) };
  return connected(connectTls(options), "secureConnect");
}

async function tunnel(proxy: URL, { host, port, network }: Upstream): Promise<Duplex> {
  const socket = await toProxy(proxy, network);
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const headers = { host: target, ...proxyAuthorization(proxy) };
    const request = httpRequest({ method: "CONNECT", path: target, headers, createConnection: () => socket });
    request.once("connect", (response, tunnelled, head) => {
      if (head.length > 0) tunnelled.unshift(head);
      if (response.statusCode === 200) return resolve(tunnelled);
      tunnelled.destroy();
      reject(new ProxyAnswer(`the proxy ${proxy.host} answered ${response.statusCode} to CONNECT ${target}`));
    });
    request.once("error", reject);
    request.end();
  });
}

export class ProxyAnswer extends Error {
  readonly code = "REEVE_PROXY_ANSWER";
}

export function proxyAuthorization(proxy: URL): { readonly "proxy-authorization"?: string } {
  return proxy.username === "" ? {} : { "proxy-authorization": basic(proxy) };
}

/** Of the user and the password in a URL. */
export function basic(url: URL): string {
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

function connected<S extends Socket>(socket: S, event: "connect" | "secureConnect"): Promise<S> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once(event, () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

const contexts = new Map<string, SecureContext>();

/** Made once for each file of authorities: reading them takes longer than a request. */
function trusted(caFile: string | null): SecureContext {
  const found = contexts.get(caFile ?? "");
  if (found !== undefined) return found;
  const own = caFile === null ? [] : [readFileSync(caFile, "utf8")];
  const context = createSecureContext({
    ca: [...new Set([...rootCertificates, ...getCACertificates("system"), ...own])],
  });
  contexts.set(caFile ?? "", context);
  return context;
}

/** A file that was changed is read again for routes that are registered from now on. */
export function forgetAuthorities(): void {
  contexts.clear();
}
