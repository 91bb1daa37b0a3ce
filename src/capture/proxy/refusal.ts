/** What the proxy itself answers to an agent: why a request did not reach its model. */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { Upstream } from "./upstream.ts";

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export function refuse(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) return;
  const body = bodyOf(refusal);
  // What is left of the request's body is not read.
  response.shouldKeepAlive = false;
  response.writeHead(refusal.status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

export function refuseOnSocket(socket: Duplex, refusal: Refusal): void {
  const body = bodyOf(refusal);
  const head = `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body);
}

/** The agents show `error.message`. */
function bodyOf({ code, message }: Refusal): string {
  return `${JSON.stringify({ error: { type: "capture_proxy", code, message } })}\n`;
}

export function upstreamRefusal(upstream: Upstream, error: unknown): Refusal {
  const errno = errnoOf(error) ?? "";
  const where = upstream.url.origin;
  const by = upstream.proxy === null ? "" : ` by the proxy ${upstream.proxy.host}`;
  const answer = (code: string, message: string): Refusal => ({ status: 502, code, message });
  if (errno === "REEVE_PROXY_ANSWER")
    return answer("upstream-proxy-refused", `${where} is not reached: ${messageOf(error)}.`);
  if (errno === "ENOTFOUND" || errno === "EAI_AGAIN")
    return answer("upstream-unknown-host", `The host of ${where} is not known${by} (${messageOf(error)}).`);
  if (CERTIFICATE.test(errno))
    return answer(
      "upstream-certificate",
      `The certificate of ${where} is not accepted: ${messageOf(error)} (${errno}). If it is signed by an authority of your own, name its file in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS.`,
    );
  if (errno.startsWith("HPE_")) return answer("upstream-unreadable", `${where} answered something that is not HTTP.`);
  return answer("upstream-unreachable", `${where} cannot be reached${by} (${messageOf(error)}).`);
}

const CERTIFICATE = /CERT|SIGNATURE|ALTNAME|ISSUER|CRL|^ERR_TLS|^ERR_SSL|SELF_SIGNED|CA_|CHAIN/;
