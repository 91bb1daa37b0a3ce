/**
 * What Claude Code writes for OTEL_LOG_RAW_API_BODIES=file:<dir> (2.1.325):
 *
 *     <id>.request.json    when it asks; thinking in earlier answers is "<REDACTED>"
 *     <id>.response.json   the whole answer as one message, not its stream; thinking as above
 *     index.jsonl          after both: {timestamp, query_source, model, request_id, message_id, request_file, response_file}
 *
 * The id of a request is that of the exchange. A request that failed has no
 * response and no line, so it has no end here.
 */
import { type Fields, countIn, fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { type NativeLine, type NativeReader, type NativeTale, NOTHING_TOLD } from "../native-capture.ts";

const INDEX = "index.jsonl";
const REQUEST = /^([A-Za-z0-9_-]+)\.request\.json$/;

export const claudeNative: NativeReader = {
  isIndex: (name) => name === INDEX,
  quotes: false,
  readLine(_index, line, body) {
    const entry = parseFields(line);
    const response = nameIn(entry, "response_file");
    if (response === null) return NOTHING_TOLD;
    const answer = body(response);
    if (answer === null || parseFields(answer) === null) return null;
    const request = nameIn(entry, "request_file");
    const asked = request === null ? null : body(request);
    const exchange =
      (request === null ? null : REQUEST.exec(request)?.[1]) ?? response.replace(/\.response\.json$/, "");
    const at = Date.parse(textIn(entry, "timestamp") ?? "");
    return {
      lines: [
        ...(asked === null ? [] : [requestOf(exchange, asked, null)]),
        ...answerOf(exchange, answer, Number.isNaN(at) ? null : at, textIn(entry, "model")),
      ],
      spent: request === null ? [response] : [request, response],
    };
  },
  readBody(name, content, at): NativeTale | null {
    const exchange = REQUEST.exec(name)?.[1];
    if (exchange === undefined || parseFields(content) === null) return null;
    return { lines: [requestOf(exchange, content, at)], spent: [name] };
  },
};

/** A name in this directory. */
function nameIn(entry: Fields | null, key: string): string | null {
  const name = textIn(entry, key);
  return name === null || name.includes("/") ? null : name;
}

function requestOf(exchange: string, body: string, at: number | null): NativeLine {
  const fields = { method: "POST", url: "/v1/messages", headers: [], body, bytes: Buffer.byteLength(body) };
  return { kind: "request", exchange, at, fields };
}

function answerOf(exchange: string, body: string, at: number | null, model: string | null): readonly NativeLine[] {
  const usage = fieldsOf(parseFields(body)?.["usage"]);
  const bytes = Buffer.byteLength(body);
  const cached = countIn(usage, "cache_read_input_tokens");
  const tokens = {
    input_tokens: countIn(usage, "input_tokens") + cached + countIn(usage, "cache_creation_input_tokens"),
    output_tokens: countIn(usage, "output_tokens"),
    cached_tokens: cached,
  };
  return [
    { kind: "response-head", exchange, at, fields: { status: 200, headers: [], latency_ms: null } },
    { kind: "chunk", exchange, at, fields: { from: "model", n: 1, body, bytes, latency_ms: null } },
    {
      kind: "end",
      exchange,
      at,
      fields: {
        outcome: "complete",
        error: null,
        status: 200,
        request_bytes: null,
        response_bytes: bytes,
        chunks: 1,
        latency_ms: null,
        model,
        usage: tokens,
      },
    },
  ];
}
