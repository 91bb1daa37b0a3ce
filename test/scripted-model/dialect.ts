// The seam between the scripted model and one vendor's API: how a request is read and how an answer is put.

import type { IncomingHttpHeaders } from "node:http";
import type { Answer, Api, Asked } from "./conversation.ts";
import type { JsonObject } from "./json.ts";

export interface Dialect {
  readonly api: Api;
  /** Throws BadRequest. */
  read(body: JsonObject, request: RequestLine): Asked;
  /** The pieces of an answer as event stream, each ready to be written. */
  speak(answer: Answer, asked: Asked): Speech;
  /** The same answer as one JSON body. */
  whole(answer: Answer, asked: Asked): unknown;
  /** The vendor's own error body. */
  error(status: number, message: string): unknown;
}

export interface RequestLine {
  readonly headers: IncomingHttpHeaders;
  /** Model and verb, for the API that has them in its path. */
  readonly model: string;
  readonly verb: string;
}

export interface Speech {
  open(): string;
  text(piece: string): string;
  close(): string;
}

export function event(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}
