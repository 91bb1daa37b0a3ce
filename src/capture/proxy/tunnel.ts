/**
 * Passes a websocket on: the request to upgrade with its headers as they are,
 * then bytes in both directions. Only the copy is read as frames.
 */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Outcome } from "../raw-line.ts";
import { reset } from "./connection.ts";
import type { Destination } from "./destination.ts";
import { type Heard, MOST_HEADER_BYTES } from "./forward.ts";
import { each, headText, requestHeaders } from "./headers.ts";
import { refuseOnSocket, upstreamRefusal } from "./refusal.ts";
import { createConnections } from "./upstream.ts";

export function openTunnel(
  destination: Destination,
  incoming: IncomingMessage,
  agent: Socket,
  head: Buffer,
  heard: Heard,
): void {
  const { upstream, path, url } = destination;
  const record = destination.route.begin();
  record.request({ method: incoming.method ?? "GET", url, headers: incoming.rawHeaders });
  let isOver = false;
  const connections = createConnections(upstream, () => undefined);

  function over(outcome: Outcome, error: string | null): void {
    if (isOver) return;
    isOver = true;
    record.end(outcome, error);
  }

  let request: ClientRequest;
  try {
    request = httpRequest({
      agent: connections,
      method: incoming.method ?? "GET",
      path,
      headers: requestHeaders(incoming.rawHeaders, upstream, "upgrade"),
      maxHeaderSize: MOST_HEADER_BYTES,
    });
  } catch (error) {
    over("upstream-failed", messageOf(error));
    return refuseOnSocket(agent, { status: 400, code: "request-unsendable", message: messageOf(error) });
  }
  let hasSocket = false;
  request.once("socket", () => (hasSocket = true));
  request.once("upgrade", (response, upstreamSocket, upstreamHead) => {
    accept(response);
    agent.write(headText(101, response.statusMessage ?? "", response.rawHeaders), "latin1");
    record.websocket(response.rawHeaders);
    pass(agent, upstreamSocket, (bytes) => record.fromAgent(bytes));
    pass(upstreamSocket, agent, (bytes) => record.fromModel(bytes));
    if (upstreamHead.length > 0) upstreamSocket.unshift(upstreamHead);
    if (head.length > 0) agent.unshift(head);
    join(agent, upstreamSocket, over);
  });
  request.once("response", (response) => {
    accept(response);
    // The connection ends with this answer, so its body needs no frame of its own.
    const headers: string[] = [];
    each(response.rawHeaders, (name, value) => {
      if (!/^(?:connection|keep-alive|transfer-encoding)$/i.test(name)) headers.push(name, value);
    });
    headers.push("Connection", "close");
    agent.write(headText(response.statusCode ?? 502, response.statusMessage ?? "", headers), "latin1");
    response.on("data", (bytes: Buffer) => record.fromModel(bytes));
    response.pipe(agent);
    response.once("end", () => over("complete", null));
    response.once("error", (error) => {
      over("upstream-reset", messageOf(error));
      reset(agent);
    });
  });
  request.once("error", (error) => {
    if (isOver) return;
    if (hasSocket) {
      over("upstream-reset", messageOf(error));
      return reset(agent);
    }
    const refusal = upstreamRefusal(upstream, error);
    over("upstream-failed", refusal.message);
    heard.failed(record.id, refusal);
    refuseOnSocket(agent, refusal);
  });
  agent.on("error", () => undefined);
  agent.once("close", () => {
    over("agent-left", "The agent closed the connection.");
    request.destroy();
    connections.destroy();
  });
  request.end();
  record.agentDone();

  function accept(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    record.response(status, response.rawHeaders);
    heard.response(record.id, status, response.rawHeaders);
  }
}

function pass(from: Duplex, to: Duplex, copy: (bytes: Buffer) => void): void {
  from.on("data", copy);
  from.pipe(to);
}

/** Ends are passed on by the pipes; what breaks on one side breaks on the other. */
function join(agent: Socket, upstream: Duplex, over: (outcome: Outcome, error: string | null) => void): void {
  upstream.once("error", (error) => {
    over("upstream-reset", messageOf(error));
    reset(agent);
  });
  agent.once("error", () => {
    over("agent-left", "The agent's connection broke.");
    upstream.destroy();
  });
  upstream.once("close", () => {
    over("complete", null);
    agent.destroySoon();
  });
  agent.once("close", () => upstream.destroy());
}
