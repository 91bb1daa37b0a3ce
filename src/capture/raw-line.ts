/** The lines of `session_oai_raw.log`, as docs/spec/session-directory.md describes them. */
import type { TokenUsage } from "../session/model-call.ts";

export type HeaderList = readonly (readonly [name: string, value: string])[];

interface OfExchange {
  readonly exchange: string;
  readonly captured: "proxy" | "native";
}

interface WithBody {
  readonly body: string;
  readonly encoding?: "base64";
  /** On the wire. */
  readonly bytes: number | null;
}

export type RequestLine = OfExchange &
  WithBody & { readonly kind: "request"; readonly method: string; readonly url: string; readonly headers: HeaderList };

export type ResponseHeadLine = OfExchange & {
  readonly kind: "response-head";
  readonly status: number;
  readonly headers: HeaderList;
  readonly latency_ms: number | null;
};

export type ChunkLine = OfExchange &
  WithBody & {
    readonly kind: "chunk";
    readonly from: "model" | "agent";
    readonly n: number;
    /** Of a websocket's message. */
    readonly opcode?: number;
    readonly latency_ms: number | null;
  };

export const OUTCOMES = ["complete", "agent-left", "upstream-failed", "upstream-reset", "proxy-stopped"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type EndLine = OfExchange & {
  readonly kind: "end";
  readonly outcome: Outcome;
  readonly error: string | null;
  readonly status: number | null;
  readonly request_bytes: number | null;
  readonly response_bytes: number | null;
  readonly chunks: number;
  readonly latency_ms: number | null;
  readonly model: string | null;
  readonly usage: TokenUsage | null;
};

export type DroppedLine = { readonly kind: "dropped"; readonly lines: number; readonly bytes: number } & {
  readonly captured: "proxy" | "native";
};

/** Whoever recorded until then was killed: what it had not written, also of exchanges that it had begun, is missing. */
export type GapLine = {
  readonly kind: "gap";
  readonly captured: "proxy";
  readonly from: string;
  readonly to: string;
};

export type RawLine = GapLine | RequestLine | ResponseHeadLine | ChunkLine | EndLine;
