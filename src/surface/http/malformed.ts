/** Refuses what is not a well-formed request, with a problem+json that says what is wrong. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errnoOf, ReeveError } from "../../platform/reeve-error.ts";
import { encodeProblem } from "./problem.ts";

// Not imported, for the reason that server.ts gives.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** By the code of Node's parser; anything else is 400. */
const KNOWN: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request's headers are too long."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The request's chunks carry too much besides their data."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time; send it again."],
  HPE_INVALID_METHOD: [400, "The request's method is not known; use GET or POST."],
};

export function refuseMalformed(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => answers.set(request.socket, response));
  server.on("clientError", (error: Error, socket: Duplex) => {
    const answer = answers.get(socket);
    const isBeingAnswered = answer !== undefined && answer.headersSent && !answer.writableFinished;
    if (!socket.writable || isBeingAnswered || errnoOf(error) === "ECONNRESET") return void socket.destroy();
    const [status, message] = KNOWN[errnoOf(error) ?? ""] ?? [400, "This is not a well-formed HTTP request."];
    socket.end(
      asText(new ReeveError({ code: status === 408 ? "request-late" : "bad-request", kind: "usage", message }), status),
      () => socket.destroy(),
    );
  });
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const message = "Expect can only be 100-continue; leave it out.";
    const { headers, text } = encodeProblem(new ReeveError({ code: "bad-request", kind: "usage", message }), 417);
    response.writeHead(417, { ...headers, connection: "close" }).end(text);
  });
}

function asText(error: ReeveError, asked: number): string {
  const { status, headers, text } = encodeProblem(error, asked);
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Bad Request"}`, ...lines, "", text].join("\r\n");
}
