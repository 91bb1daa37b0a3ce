/** For tests: the lines of a persisted session's logs, as docs/spec/session-directory.md describes them. */
import type { StoryPart, StorySource } from "./entry.ts";
import type { StoryEvent } from "./log-part.ts";

export const NOON = Date.parse("2026-11-17T12:00:00.000Z");

export function at(seconds: number): string {
  return new Date(NOON + seconds * 1_000).toISOString();
}

export function event(
  seq: number,
  seconds: number,
  type: string,
  data: object = {},
  caller: string | null = null,
): StoryEvent {
  return { seq, at: at(seconds), caller, type, data: { ...data } };
}

/** `mono`: seconds of the monotonic clock. */
export function line(seq: number, seconds: number, mono: number | null, kind: string, fields: object = {}): object {
  return { v: 1, seq, at: at(seconds), mono_ms: mono === null ? null : mono * 1_000, kind, ...fields };
}

/** An exchange as the proxy writes it: four lines, or fewer where it was cut off. */
export function exchange(
  id: string,
  seq: number,
  seconds: number,
  mono: number,
  {
    status = 200,
    outcome = "complete",
    request = "{}",
    response = "ok",
    url = "https://api.example.org/v1/messages?x=1",
  } = {},
): readonly object[] {
  const common = { exchange: id, captured: "proxy" };
  return [
    line(seq, seconds, mono, "request", { ...common, method: "POST", url, headers: [], body: request, bytes: 2 }),
    line(seq + 1, seconds, mono, "response-head", { ...common, status, headers: [], latency_ms: 120 }),
    line(seq + 2, seconds, mono, "chunk", {
      ...common,
      from: "model",
      n: 1,
      body: response,
      bytes: 2,
      latency_ms: 130,
    }),
    line(seq + 3, seconds, mono, "end", {
      ...common,
      outcome,
      error: outcome === "complete" ? null : "the connection was reset",
      status,
      request_bytes: 2,
      response_bytes: 2,
      chunks: 1,
      latency_ms: 1_500,
      model: "model-1",
      usage: { input_tokens: 1_200, output_tokens: 30, cached_tokens: null },
    }),
  ];
}

export function part(
  source: StorySource,
  seq: number,
  seconds: number,
  mono: number | null,
  changes: Partial<StoryPart> = {},
): StoryPart {
  return {
    source,
    seq,
    at: at(seconds),
    mono: mono === null ? null : mono * 1_000,
    kind: "session",
    type: "test",
    turn: null,
    actor: "reeve",
    what: `${source} ${seq}`,
    text: null,
    failed: false,
    ms: null,
    data: {},
    ...changes,
  };
}

export function asLines(lines: readonly object[]): string {
  return lines.map((one) => `${JSON.stringify(one)}\n`).join("");
}
