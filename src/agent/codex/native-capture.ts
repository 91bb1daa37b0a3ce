/**
 * What Codex writes below CODEX_ROLLOUT_TRACE_ROOT (0.166.0), for each thread
 * with its subagents:
 *
 *     trace-<uuid>-<thread>/manifest.json
 *     trace-<uuid>-<thread>/trace.jsonl       a line for everything that happens, with previews of commands
 *     trace-<uuid>-<thread>/payloads/<n>.json what such a line names by "path": requests, answers, results of tools
 *
 * Of all that the requests to the model are told: inference_started,
 * inference_completed, inference_failed, inference_cancelled, and the same of
 * compactions. A request is the JSON that was sent, laid out anew; an answer is
 * its finished items and its usage, not the stream. Attempts within the HTTP
 * client (a 500 that is asked again) are one exchange.
 */
import { dirname } from "node:path";
import { type Fields, countOf, fieldsOf, fieldsOrNull, parseFields, textIn } from "../../platform/json-fields.ts";
import { type NativeLine, type NativeReader, NOTHING_TOLD } from "../native-capture.ts";

const INDEX = /^trace-[^/]+\/trace\.jsonl$/;
const PAYLOAD = /"path":"(payloads\/[^"/]+\.json)"/g;

export const codexNative: NativeReader = {
  isIndex: (name) => INDEX.test(name),
  quotes: true,
  readLine(index, line, body) {
    const entry = parseFields(line);
    if (entry === null) return NOTHING_TOLD;
    const directory = dirname(index);
    const spent = [...line.matchAll(PAYLOAD)].map(([, path]) => `${directory}/${path}`);
    return { lines: linesOf(entry, (path) => body(`${directory}/${path}`)), spent };
  },
  readBody: () => null,
};

function linesOf(entry: Fields, body: (path: string) => string | null): readonly NativeLine[] {
  const event = fieldsOf(entry["payload"]);
  const exchange = textIn(event, "inference_call_id") ?? textIn(event, "compaction_request_id");
  const [, stage] = /^(?:inference|compaction_request)_(\w+)$/.exec(textIn(event, "type") ?? "") ?? [];
  if (exchange === null || stage === undefined) return [];
  const at = typeof entry["wall_time_unix_ms"] === "number" ? entry["wall_time_unix_ms"] : null;
  const payload = payloadOf(event, body);
  const line = (kind: NativeLine["kind"], fields: NativeLine["fields"]): NativeLine => ({ kind, exchange, at, fields });
  if (stage === "started") {
    const text = payload ?? "";
    const url = textIn(event, "type") === "compaction_request_started" ? "/responses/compact" : "/responses";
    return [line("request", { method: "POST", url, headers: [], body: text, bytes: Buffer.byteLength(text) })];
  }
  const isWhole = stage === "completed";
  const bytes = payload === null ? 0 : Buffer.byteLength(payload);
  const status = isWhole ? 200 : null;
  return [
    ...(isWhole ? [line("response-head", { status, headers: [], latency_ms: null })] : []),
    ...(payload === null ? [] : [line("chunk", { from: "model", n: 1, body: payload, bytes, latency_ms: null })]),
    line("end", {
      outcome: isWhole ? "complete" : stage === "cancelled" ? "agent-left" : "upstream-failed",
      error: textIn(event, "error") ?? textIn(event, "reason"),
      status,
      request_bytes: null,
      response_bytes: bytes,
      chunks: payload === null ? 0 : 1,
      latency_ms: null,
      model: textIn(event, "model"),
      usage: usageIn(payload),
    }),
  ];
}

/** `request_payload`, `response_payload` or `partial_response_payload`, whichever there is. */
function payloadOf(event: Fields, body: (path: string) => string | null): string | null {
  for (const key of ["request_payload", "response_payload", "partial_response_payload"]) {
    const path = textIn(fieldsOrNull(event[key]), "path");
    if (path !== null) return body(path);
  }
  return null;
}

function usageIn(payload: string | null): Fields | null {
  const usage = fieldsOrNull(payload === null ? null : parseFields(payload)?.["token_usage"]);
  if (usage === null) return null;
  return {
    input_tokens: countOf(usage["input_tokens"]),
    output_tokens: countOf(usage["output_tokens"]),
    cached_tokens: countOf(usage["cached_input_tokens"]),
  };
}
