/**
 * Passes one request on to its upstream and the response back, byte for byte
 * and as they come, with a copy for the record. What goes wrong on one side is
 * made to look the same on the other: a reset is a reset, an end that came too
 * soon is one, a stall is a stall. Nothing here has a time-out.
 */
import { type ClientRequest, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { messageOf } from "../../platform/reeve-error.ts";
import type { ExchangeRecord } from "../exchange-recorder.ts";
import type { Outcome } from "../raw-line.ts";
import { connectionOf, reset } from "./connection.ts";
import { each, headText, named, requestHeaders, responseHeaders } from "./headers.ts";
import { type Refusal, refuse, upstreamRefusal } from "./refusal.ts";
import type { Destination } from "./destination.ts";

/** Agents send conversations' worth of metadata; Node's own limit is 16 KB. */
export const MOST_HEADER_BYTES = 262_144;

export interface Heard {
  /** The response's head has come. */
  response(exchange: string, status: number, headers: readonly string[]): void;
  failed(exchange: string, refusal: Pick<Refusal, "code" | "message">): void;
}

export function forward(
  destination: Destination,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  heard: Heard,
): void {
  const { upstream, path, url } = destination;
  const method = incoming.method ?? "GET";
  const record = destination.route.begin();
  record.request({ method, url, headers: incoming.rawHeaders });
  const connection = connectionOf(incoming.socket);
  connection.active += 1;
  let isOver = false;
  /** The upstream's connection broke; it was not just closed. */
  let isReset = false;
  let socket: Socket | null = null;
  const onSocketError = (): void => void (isReset = true);

  function over(outcome: Outcome, error: string | null): void {
    if (isOver) return;
    isOver = true;
    connection.active -= 1;
    socket?.off("error", onSocketError);
    record.end(outcome, error);
  }

  const upstreamRequest = begin();
  if (upstreamRequest === null) return;
  passRequest(incoming, upstreamRequest, record);

  upstreamRequest.on("socket", (assigned) => {
    socket = assigned;
    assigned.on("error", onSocketError);
  });
  upstreamRequest.on("continue", () => {
    if (!outgoing.headersSent) outgoing.writeContinue();
  });
  upstreamRequest.on("information", ({ statusCode, statusMessage, rawHeaders }) => {
    if (statusCode !== 100 && !outgoing.headersSent)
      outgoing.socket?.write(headText(statusCode, statusMessage, rawHeaders), "latin1");
  });
  upstreamRequest.on("response", (response) => {
    const status = response.statusCode ?? 0;
    record.response(status, response.rawHeaders);
    heard.response(record.id, status, response.rawHeaders);
    passResponse(response, outgoing, record, {
      whole: () => over("complete", null),
      broken: (why) => {
        if (isOver) return;
        over("upstream-reset", why);
        breakOff(outgoing, isReset);
      },
    });
  });
  upstreamRequest.on("error", (error) => {
    // The response's own end says what became of it.
    if (isOver || outgoing.headersSent) return;
    if (socket !== null && !isHttpError(error)) {
      over("upstream-reset", messageOf(error));
      return breakOff(outgoing, isReset);
    }
    fail(upstreamRefusal(upstream, error));
  });
  outgoing.once("close", () => {
    if (isOver) return;
    over("agent-left", "The agent closed the connection.");
    upstreamRequest.destroy();
  });
  outgoing.once("finish", () => {
    // An upstream may answer before it has read everything; the agent's connection goes on with its next request.
    incoming.unpipe(upstreamRequest);
    incoming.resume();
  });

  function begin(): ClientRequest | null {
    try {
      return httpRequest({
        agent: connection.to(upstream),
        method,
        path,
        headers: framed(method, requestHeaders(incoming.rawHeaders, upstream, "none")),
        maxHeaderSize: MOST_HEADER_BYTES,
      });
    } catch (error) {
      over("upstream-failed", messageOf(error));
      refuse(outgoing, { status: 400, code: "request-unsendable", message: messageOf(error) });
      return null;
    }
  }

  function fail(refusal: Refusal): void {
    over("upstream-failed", refusal.message);
    heard.failed(record.id, refusal);
    refuse(outgoing, refusal);
  }
}

function passRequest(incoming: IncomingMessage, upstreamRequest: ClientRequest, record: ExchangeRecord): void {
  incoming.on("data", (bytes: Buffer) => record.fromAgent(bytes));
  incoming.pipe(upstreamRequest, { end: false });
  incoming.once("end", () => {
    if (incoming.rawTrailers.length > 0) upstreamRequest.addTrailers(pairs(incoming.rawTrailers));
    upstreamRequest.end();
    record.agentDone();
  });
  headSoon(incoming, () => {
    if (!upstreamRequest.destroyed) upstreamRequest.flushHeaders();
  });
}

/** A head goes with the first of its body, if that is here already; otherwise without it. */
function headSoon(body: IncomingMessage, send: () => void): void {
  let isSent = false;
  const sent = (): void => void (isSent = true);
  body.once("data", sent);
  body.once("end", sent);
  setImmediate(() => {
    if (!isSent) send();
  });
}

function passResponse(
  response: IncomingMessage,
  outgoing: ServerResponse,
  record: ExchangeRecord,
  told: { whole(): void; broken(why: string): void },
): void {
  outgoing.sendDate = false;
  if (!staysOpen(response)) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(response.statusCode ?? 502, response.statusMessage ?? "", responseHeaders(response.rawHeaders));
  response.on("data", (bytes: Buffer) => record.fromModel(bytes));
  response.pipe(outgoing, { end: false });
  headSoon(response, () => {
    if (!outgoing.destroyed) outgoing.flushHeaders();
  });
  let hasEnded = false;
  response.once("end", () => {
    hasEnded = true;
    if (!response.complete) return told.broken("The upstream ended its response too soon.");
    if (response.rawTrailers.length > 0) outgoing.addTrailers(pairs(response.rawTrailers));
    outgoing.end();
    told.whole();
  });
  response.once("error", (error) => told.broken(messageOf(error)));
  response.once("close", () => {
    if (!hasEnded) told.broken("The upstream closed the connection within its response.");
  });
}

/** What the agent got so far stays; that it is not all must be seen. */
function breakOff(outgoing: ServerResponse, isReset: boolean): void {
  const { socket } = outgoing;
  if (socket === null) return void outgoing.destroy();
  if (isReset) reset(socket);
  else socket.destroySoon();
}

/** Node would send a body in chunks where there is none. */
function framed(method: string, headers: string[]): string[] {
  const hasBody = named(headers, "content-length").length > 0 || named(headers, "transfer-encoding").length > 0;
  if (!hasBody && !/^(?:GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/.test(method)) headers.push("Content-Length", "0");
  return headers;
}

function staysOpen(response: IncomingMessage): boolean {
  const said = (response.headers.connection ?? "").toLowerCase();
  return response.httpVersion === "1.0" ? said.includes("keep-alive") : !said.includes("close");
}

function isHttpError(error: Error & { readonly code?: string }): boolean {
  return error.code?.startsWith("HPE_") === true;
}

function pairs(raw: readonly string[]): [string, string][] {
  const all: [string, string][] = [];
  each(raw, (name, value) => all.push([name, value]));
  return all;
}
