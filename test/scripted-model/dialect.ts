// The seam between the scripted model and one vendor's API: how a request is read and how an answer is put.

import type { IncomingHttpHeaders } from "node:http";
import type { Answer, Api, Asked } from "./conversation.ts";
import type { VendorError } from "./directive.ts";
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
  /** Exactly what the vendor answers when it refuses for this. */
  refuse(refusal: Refusal): Refused;
  /** Headers that say how much of the account's limit is used; empty where the vendor has none. */
  used(percent: number, resetsAt: number): Headers;
}

export type Refusal =
  /** Milliseconds since the epoch. */
  | { readonly error: "limit"; readonly resetsAt: number; readonly model: string }
  | { readonly error: VendorError; readonly model: string };

export type Headers = Readonly<Record<string, string>>;

export interface Refused {
  readonly status: number;
  readonly headers?: Headers;
  /** A JSON body, or the events of a stream that begins well and then fails. */
  readonly body: unknown;
  readonly events?: string;
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
