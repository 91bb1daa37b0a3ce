/**
 * The exchanges of `session_oai_raw.log` as parts of the story. Lines of
 * exchanges that run side by side are mixed, some may be torn or missing, and
 * the file may have gigabytes: of each exchange only the beginning of what was
 * asked and answered is kept, and of all together so much.
 */
import { fieldsOf, type Fields, textIn } from "../../platform/json-fields.ts";
import { beginning, bounded, inOneLine, inSeconds, type StoryPart } from "./entry.ts";
import { numberOf } from "./log-part.ts";

/** Of a request, and of a response. */
const MOST_BODY = 8_192;
/** Of all of them. */
const MOST_BODIES = 16 * 1024 * 1024;

interface Exchange {
  readonly seq: number;
  readonly at: string;
  readonly mono: number | null;
  readonly id: string;
  readonly captured: string | null;
  method: string;
  url: string;
  status: number | null;
  request: string | null;
  response: string;
  end: Fields | null;
  firstByteMs: number | null;
  isBinary: boolean;
}

export interface ApiReader {
  /** One that `logLine` could read. */
  take(line: Fields): void;
  parts(): readonly StoryPart[];
}

export function createApiReader(): ApiReader {
  const exchanges = new Map<string, Exchange>();
  /** Whose names others have got. */
  const over: Exchange[] = [];
  const drops: StoryPart[] = [];
  let kept = 0;

  const excerpt = (body: string | null): string => {
    const text = kept >= MOST_BODIES ? "" : beginning(body ?? "", MOST_BODY);
    kept += text.length;
    return text;
  };

  function exchangeOf(line: Fields, id: string): Exchange {
    const found = exchanges.get(id);
    // A proxy that was started again may count from the beginning.
    const isAnother = line["kind"] === "request" && found?.end !== undefined && found.end !== null;
    if (found !== undefined && !isAnother) return found;
    if (found !== undefined) over.push(found);
    const made: Exchange = {
      seq: Number(line["seq"]),
      at: textIn(line, "at") ?? "",
      mono: numberOf(line["mono_ms"]),
      id,
      captured: textIn(line, "captured"),
      method: "",
      url: "",
      status: null,
      request: null,
      response: "",
      end: null,
      firstByteMs: null,
      isBinary: false,
    };
    exchanges.set(id, made);
    return made;
  }

  return {
    take(line) {
      if (line["kind"] === "dropped") return void drops.push(droppedPart(line));
      const name = line["exchange"];
      if (typeof name !== "string" && typeof name !== "number") return;
      const exchange = exchangeOf(line, `${name}`);
      const body = line["encoding"] === "base64" ? null : textIn(line, "body");
      switch (line["kind"]) {
        case "request":
          exchange.method = textIn(line, "method") ?? "";
          exchange.url = textIn(line, "url") ?? "";
          exchange.request = excerpt(body);
          break;
        case "response-head":
          exchange.status = numberOf(line["status"]);
          exchange.firstByteMs = numberOf(line["latency_ms"]);
          break;
        case "chunk":
          if (line["encoding"] === "base64") exchange.isBinary = true;
          if (line["from"] === "agent") {
            // What was too long for one line, or the messages of a websocket.
            if ((exchange.request ?? "").length < MOST_BODY)
              exchange.request = (exchange.request ?? "") + excerpt(body);
          } else if (exchange.response.length < MOST_BODY) exchange.response += excerpt(body);
          break;
        case "end":
          exchange.end = line;
          break;
        default:
      }
    },
    parts: () =>
      [...[...over, ...exchanges.values()].map(partOf), ...drops].toSorted((one, other) => one.seq - other.seq),
  };
}

function partOf(exchange: Exchange): StoryPart {
  const { end } = exchange;
  const usage = fieldsOf(end?.["usage"]);
  const outcome = textIn(end, "outcome");
  const status = numberOf(end?.["status"]) ?? exchange.status;
  const ms = numberOf(end?.["latency_ms"]);
  const failed = (outcome !== null && outcome !== "complete") || (status !== null && status >= 400);
  const model = textIn(end, "model");
  const [input, output] = [numberOf(usage["input_tokens"]), numberOf(usage["output_tokens"])];
  const told = [
    `${exchange.method} ${pathOf(exchange.url)}`.trim() || `exchange ${exchange.id}`,
    end === null
      ? "its end is not recorded"
      : `${status ?? "no status"}${outcome === "complete" ? "" : `, ${outcome}`}`,
    ...(model === null ? [] : [model]),
    ...(ms === null ? [] : [inSeconds(ms)]),
    ...(input === null && output === null ? [] : [`${input ?? "?"} tokens in, ${output ?? "?"} out`]),
    ...(textIn(end, "error") === null ? [] : [textIn(end, "error")]),
  ];
  return {
    source: "api",
    seq: exchange.seq,
    at: exchange.at,
    mono: exchange.mono,
    turn: null,
    kind: "api",
    type: "model-call",
    actor: "agent",
    what: inOneLine(told.join(", ")),
    text: null,
    failed,
    ms,
    data: {
      exchange: exchange.id,
      captured: exchange.captured,
      method: exchange.method,
      url: exchange.url,
      status,
      outcome,
      model,
      usage: end?.["usage"] ?? null,
      first_byte_ms: exchange.firstByteMs,
      request_bytes: numberOf(end?.["request_bytes"]),
      response_bytes: numberOf(end?.["response_bytes"]),
      chunks: numberOf(end?.["chunks"]),
      error: textIn(end, "error"),
      request: exchange.request === null ? null : bounded(exchange.request, MOST_BODY),
      response: exchange.response === "" && exchange.isBinary ? null : bounded(exchange.response, MOST_BODY),
    },
  };
}

function droppedPart(line: Fields): StoryPart {
  const { lines, bytes } = line;
  return {
    source: "api",
    seq: Number(line["seq"]),
    at: textIn(line, "at") ?? "",
    mono: numberOf(line["mono_ms"]),
    turn: null,
    kind: "api",
    type: "capture-dropped",
    actor: "reeve",
    what: `${numberOf(lines) ?? "some"} lines (${numberOf(bytes) ?? "?"} bytes) of model traffic were not recorded`,
    text: null,
    failed: true,
    ms: null,
    data: { lines, bytes },
  };
}

/** Without the host, which is always the same, and the query. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/\?.*$/s, "") || url;
}
