/**
 * A story as OpenTelemetry traces (OTLP in JSON): a span for the session, in it
 * one for each turn, and in these the calls to the model and to tools. The rest
 * are events of the span in which they happened. The same story has the same
 * ids, so that what is sent twice is there once.
 */
import { createHash } from "node:crypto";
import { fieldsOf, textIn } from "../../platform/json-fields.ts";
import type { StoryEntry } from "./entry.ts";
import { numberOf } from "./log-part.ts";
import { NAMES, OPERATIONS } from "./span-names.ts";

/** Of whom the story is. */
export interface SpanSubject {
  readonly sessionId: string;
  readonly name: string;
  readonly agent: string | null;
  readonly role: string | null;
  readonly nativeId: string | null;
}

export interface SpanOptions {
  readonly version: string;
  /** What was said, asked and answered; else only that it was. */
  readonly hasContent: boolean;
}

type Value = { readonly stringValue: string } | { readonly intValue: string } | { readonly boolValue: boolean };
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface SpanEvent {
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
}
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: typeof INTERNAL | typeof CLIENT;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events: readonly SpanEvent[];
  readonly status: { readonly code: number; readonly message?: string };
}
export interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly spans: readonly Span[];
    }[];
  }[];
}

const INTERNAL = 1;
const CLIENT = 3;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;

export function tracesOf(entries: readonly StoryEntry[], subject: SpanSubject, options: SpanOptions): Traces {
  const resource = attributes({ [NAMES.service]: "reeve", [NAMES.serviceVersion]: options.version });
  const spans = entries.length === 0 ? [] : spansOf(entries, subject, options.hasContent);
  const scope = { name: "reeve", version: options.version };
  return { resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope, spans }] }] };
}

interface Turn {
  readonly number: number;
  readonly entries: StoryEntry[];
}

function spansOf(entries: readonly StoryEntry[], subject: SpanSubject, hasContent: boolean): readonly Span[] {
  const { sessionId, agent, role, nativeId, name } = subject;
  const traceId = hash(`trace ${sessionId}`, 32);
  const id = (of: string): string => hash(`span ${sessionId} ${of}`, 16);
  const rootId = id("session");
  const turnId = (turn: number): string => id(`turn ${turn}`);

  const turns = new Map<number, Turn>();
  for (const entry of entries) {
    if (entry.turn === null) continue;
    const turn = turns.get(entry.turn) ?? { number: entry.turn, entries: [] };
    turn.entries.push(entry);
    turns.set(entry.turn, turn);
  }

  const root: Span = {
    traceId,
    spanId: rootId,
    name: agent === null ? OPERATIONS.session : `${OPERATIONS.session} ${agent}`,
    kind: INTERNAL,
    ...times(entries),
    attributes: attributes({
      [NAMES.operation]: OPERATIONS.session,
      [NAMES.agent]: agent,
      [NAMES.agentId]: name,
      [NAMES.conversation]: nativeId,
      [NAMES.session]: sessionId,
      [NAMES.role]: role,
    }),
    events: entries.filter((entry) => entry.turn === null && !isCall(entry)).map((entry) => eventOf(entry, hasContent)),
    status: { code: STATUS_UNSET },
  };
  const turnSpans = [...turns.values()].map((turn): Span => {
    const failure = turn.entries.find(({ type }) => type === "turn-failed" || type === "turn-interrupted");
    return {
      traceId,
      spanId: turnId(turn.number),
      parentSpanId: rootId,
      name: `turn ${turn.number}`,
      kind: INTERNAL,
      ...times(turn.entries),
      attributes: attributes({
        [NAMES.turn]: turn.number,
        [NAMES.session]: sessionId,
        [NAMES.conversation]: nativeId,
        [NAMES.errorType]: failure === undefined ? null : failure.type,
      }),
      events: turn.entries.filter((entry) => !isCall(entry)).map((entry) => eventOf(entry, hasContent)),
      status: failure === undefined ? { code: STATUS_UNSET } : failedWith(hasContent ? failure.what : failure.type),
    };
  });
  const calls = entries.filter(isCall).map((entry): Span => {
    const { name: called, kind, attributes: about } = callOf(entry, hasContent);
    return {
      traceId,
      spanId: id(`${entry.source} ${entry.seq}`),
      parentSpanId: entry.turn === null ? rootId : turnId(entry.turn),
      name: called,
      kind,
      startTimeUnixNano: nano(Date.parse(entry.at)),
      endTimeUnixNano: nano(Date.parse(entry.at) + (entry.ms ?? 0)),
      attributes: attributes({ ...about, [NAMES.session]: sessionId, [NAMES.conversation]: nativeId }),
      events: [],
      status: entry.failed ? failedWith(hasContent ? entry.what : called) : { code: STATUS_UNSET },
    };
  });
  return [root, ...turnSpans, ...calls];
}

function isCall({ type }: StoryEntry): boolean {
  return type === "model-call" || type === "tool-call";
}

interface Call {
  readonly name: string;
  readonly kind: Span["kind"];
  readonly attributes: Readonly<Record<string, unknown>>;
}

function callOf({ type, data, failed }: StoryEntry, hasContent: boolean): Call {
  return type === "model-call" ? modelCall(data, failed, hasContent) : toolCall(data, failed, hasContent);
}

function modelCall(data: StoryEntry["data"], failed: boolean, hasContent: boolean): Call {
  const usage = fieldsOf(data["usage"]);
  const model = textIn(data, "model");
  const status = numberOf(data["status"]);
  return {
    name: model === null ? OPERATIONS.modelCall : `${OPERATIONS.modelCall} ${model}`,
    kind: CLIENT,
    attributes: {
      [NAMES.operation]: OPERATIONS.modelCall,
      [NAMES.requestModel]: model,
      [NAMES.inputTokens]: numberOf(usage["input_tokens"]),
      [NAMES.outputTokens]: numberOf(usage["output_tokens"]),
      [NAMES.cachedTokens]: numberOf(usage["cached_tokens"]),
      [NAMES.method]: textIn(data, "method"),
      [NAMES.status]: status,
      [NAMES.server]: hostOf(textIn(data, "url") ?? ""),
      [NAMES.errorType]: failed ? (status !== null && status >= 400 ? `${status}` : textIn(data, "outcome")) : null,
      ...(hasContent ? { [NAMES.request]: textIn(data, "request"), [NAMES.response]: textIn(data, "response") } : {}),
    },
  };
}

function toolCall(data: StoryEntry["data"], failed: boolean, hasContent: boolean): Call {
  const tool = textIn(data, "name") ?? "tool";
  return {
    name: `${OPERATIONS.toolCall} ${tool}`,
    kind: INTERNAL,
    attributes: {
      [NAMES.operation]: OPERATIONS.toolCall,
      [NAMES.tool]: tool,
      [NAMES.toolCall]: textIn(data, "id"),
      [NAMES.errorType]: failed ? "tool-error" : null,
      ...(hasContent
        ? { [NAMES.toolArguments]: textIn(data, "input"), [NAMES.toolResult]: textIn(data, "result") }
        : {}),
    },
  };
}

/** What was said, and the titles of questions, are content: without it only the type is told. */
function eventOf(entry: StoryEntry, hasContent: boolean): SpanEvent {
  return {
    timeUnixNano: nano(Date.parse(entry.at)),
    name: entry.type,
    attributes: attributes({
      [NAMES.actor]: entry.actor,
      ...(hasContent ? { [NAMES.what]: entry.text ?? entry.what } : {}),
    }),
  };
}

/** From the first to the end of the last; the clock may have been set back meanwhile. */
function times(entries: readonly StoryEntry[]): Pick<Span, "startTimeUnixNano" | "endTimeUnixNano"> {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { at, ms } of entries) {
    const began = Date.parse(at);
    if (Number.isNaN(began)) continue;
    start = Math.min(start, began);
    end = Math.max(end, began + (ms ?? 0));
  }
  return { startTimeUnixNano: nano(start), endTimeUnixNano: nano(end) };
}

function failedWith(message: string): Span["status"] {
  return { code: STATUS_ERROR, message };
}

/** Nanoseconds do not fit into a number; what is no time is the beginning of all times. */
function nano(ms: number): string {
  return Number.isFinite(ms) ? `${BigInt(Math.round(ms * 1_000)) * 1_000n}` : "0";
}

function hash(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

/** What is not known is left out. */
function attributes(values: Readonly<Record<string, unknown>>): readonly Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    if (typeof value === "number") return [{ key, value: { intValue: `${Math.round(value)}` } }];
    return [];
  });
}
