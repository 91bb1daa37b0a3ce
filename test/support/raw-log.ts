/** Reads a session_oai_raw.log back into exchanges, for tests. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface RawLogLine {
  readonly v: number;
  readonly seq: number;
  readonly kind: string;
  readonly exchange: string;
  readonly captured: string;
  readonly from?: "agent" | "model";
  readonly n?: number;
  /** Of a message in a websocket: 1 is text. */
  readonly opcode?: number;
  readonly body?: string;
  readonly encoding?: string;
  readonly url?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly status?: number | null;
  readonly outcome?: string;
  readonly model?: string | null;
  readonly usage?: Readonly<Record<string, number | null>> | null;
}

export interface RawExchange {
  readonly id: string;
  readonly captured: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly request: string;
  /** Joined. */
  readonly response: string;
  readonly end: RawLogLine | undefined;
}

export function readRawLog(directory: string): readonly RawLogLine[] {
  const text = readFileSync(join(directory, "session_oai_raw.log"), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RawLogLine);
}

export function readExchanges(directory: string): readonly RawExchange[] {
  const lines = readRawLog(directory);
  const asked = lines.filter(({ kind }) => kind === "request");
  return asked.map(({ exchange, captured, url = "", headers = [], body = "" }) => {
    const own = lines.filter((line) => line.exchange === exchange);
    const response = own.filter(({ kind }) => kind === "chunk").map((line) => line.body ?? "");
    const end = own.find(({ kind }) => kind === "end");
    return { id: exchange, captured, url, headers, request: body, response: response.join(""), end };
  });
}
