/**
 * Records one exchange: takes copies of what passes, and turns them into lines
 * in the background. On the way a body is decoded from its compression, secrets
 * are removed from its bytes, and only then it becomes text. What cannot be
 * decoded is not recorded, because nobody can tell what secrets are in it; the
 * log says how much that was. The same holds for the rest of a body of which a
 * part was dropped: the secret's other half would not be recognised.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Moment } from "../platform/clock.ts";
import type { ReadUsage } from "../session/model-call.ts";
import type { CopyQueue } from "./copy-queue.ts";
import { createBodyRecord, type BodyRecord } from "./body-record.ts";
import type { BodyField } from "./body-text.ts";
import { createUsageMeter } from "./model-usage.ts";
import type { HeaderList, Outcome } from "./raw-line.ts";
import type { RawLog } from "./raw-log.ts";
import { type MessageRecord, createMessageRecord } from "./message-record.ts";
import type { TrafficRedaction } from "./traffic-redaction.ts";

export interface ExchangeRecord {
  readonly id: string;
  request(head: { readonly method: string; readonly url: string; readonly headers: readonly string[] }): void;
  fromAgent(bytes: Buffer): void;
  /** The request's body is whole. */
  agentDone(): void;
  response(status: number, headers: readonly string[]): void;
  fromModel(bytes: Buffer): void;
  /** What follows are frames; `headers` are those of the response. */
  websocket(headers: readonly string[]): void;
  /** `error` is a sentence for people, or null. Only the first call counts. */
  end(outcome: Outcome, error: string | null): void;
}

export interface RecorderParts {
  readonly log: RawLog;
  readonly redaction: TrafficRedaction;
  readonly readUsage: ReadUsage;
  readonly clock: Clock;
  readonly queue: CopyQueue;
  /** A whole message that the model sent over a websocket, as it is recorded. */
  onMessage(exchange: string, text: string): void;
  /** After the last line of the exchange. */
  onWritten(): void;
}

export type From = "agent" | "model";
interface When {
  readonly moment: Moment;
  /** Since the exchange began. */
  readonly latency: number;
}
/** One step of the work; it calls `next` when the next one may begin. */
type Job = (next: () => void) => void;

/** Exchanges of different processes are in one file. */
const PROCESS = randomBytes(6).toString("hex");
let count = 0;
/** A request's body up to this size is in the line of the request; the rest follows as chunks. */
const MOST_REQUEST = 4 * 1_048_576;

function nextId(): string {
  return `${PROCESS}-${(count += 1).toString(36)}`;
}

/** For a route of which nothing is kept. */
export function recordNothing(): ExchangeRecord {
  const nothing = (): void => undefined;
  return {
    id: nextId(),
    request: nothing,
    fromAgent: nothing,
    agentDone: nothing,
    response: nothing,
    fromModel: nothing,
    websocket: nothing,
    end: nothing,
  };
}

export function recordExchange(parts: RecorderParts): ExchangeRecord {
  const { log, redaction, queue } = parts;
  const id = nextId();
  const about = { exchange: id, captured: "proxy" } as const;
  const startedAt = parts.clock.monotonic();
  const meter = createUsageMeter(parts.readUsage);
  const begunAt = parts.clock.moment();
  /** Lines are written later than what they tell of. */
  const now = (): When => ({
    moment: parts.clock.moment(),
    latency: Math.round((parts.clock.monotonic() - startedAt) * 10) / 10,
  });

  const jobs: Job[] = [];
  let isBusy = false;
  let isEnded = false;
  let request: { readonly method: string; readonly url: string; readonly headers: HeaderList } | null = null;
  /** Redacted bytes of the request, until its line is written. */
  let requestParts: Buffer[] = [];
  let requestLength = 0;
  let requestBytes = 0;
  let status: number | null = null;
  let chunks = 0;
  const counted = { agent: 0, model: 0 };
  const numbers = { agent: 0, model: 0 };
  /** Dropped when they came: there was no room for them. */
  const isCut = { agent: false, model: false };
  const isRestTold = { agent: false, model: false };
  const bodies: Record<From, BodyRecord | MessageRecord> = {
    agent: createBodyRecord(redaction, undefined),
    model: createBodyRecord(redaction, undefined),
  };

  function add(job: Job): void {
    jobs.push(job);
    if (isBusy) return;
    isBusy = true;
    queue.soon(step);
  }

  function step(): void {
    const job = jobs.shift();
    if (job === undefined) isBusy = false;
    else job(() => queue.soon(step));
  }

  function copy(from: From, bytes: Buffer): void {
    counted[from] += bytes.length;
    if (isCut[from]) return log.drop(bytes.length);
    if (!queue.take(bytes.length)) {
      isCut[from] = true;
      log.drop(bytes.length);
      return add((next) => {
        bodies[from].lose();
        next();
      });
    }
    const when = now();
    add((next) => {
      const write = (field: { readonly body: Buffer; readonly bytes: number; readonly opcode?: number }): void =>
        from === "agent" && request !== null ? hold(field.body, field.bytes, when) : chunk(from, field, when);
      bodies[from].push(bytes, write, (isLost) => {
        queue.give(bytes.length);
        if (isLost) log.drop(bytes.length);
        next();
      });
    });
  }

  /** For the line of the request, unless it becomes too large. */
  function hold(body: Buffer, bytes: number, when: When): void {
    const isFit = requestLength + body.length <= MOST_REQUEST && queue.take(body.length);
    if (!isFit) {
      writeRequest("begun");
      return chunk("agent", { body, bytes }, when);
    }
    requestParts.push(body);
    requestLength += body.length;
    requestBytes += bytes;
  }

  function writeRequest(body: "whole" | "begun"): void {
    if (request === null) return;
    const bytes = Buffer.concat(requestParts);
    const field = body === "whole" ? bodies.agent.lastFieldOf(bytes) : bodies.agent.fieldOf(bytes);
    log.write({ kind: "request", ...about, ...request, ...field, bytes: requestBytes }, begunAt);
    queue.give(requestLength);
    request = null;
    requestParts = [];
  }

  function chunk(
    from: From,
    { body, bytes, opcode }: { readonly body: Buffer; readonly bytes: number; readonly opcode?: number },
    when: When,
  ): void {
    const ofMessage = opcode === undefined ? {} : { opcode };
    writeChunk(from, bodies[from].fieldOf(body), { ...ofMessage, bytes }, when);
  }

  function writeChunk(
    from: From,
    field: BodyField,
    more: { readonly opcode?: number; readonly bytes: number },
    { moment, latency }: When,
  ): void {
    chunks += 1;
    numbers[from] += 1;
    if (from === "model" && field.encoding === undefined) {
      if (more.opcode === undefined) meter.push(field.body);
      else {
        meter.message(field.body);
        parts.onMessage(id, field.body);
      }
    }
    const n = numbers[from];
    log.write({ kind: "chunk", ...about, from, n, ...field, ...more, latency_ms: latency }, moment);
  }

  /** What was held back of a body, once nothing more comes. */
  function rest(from: From, when: When): void {
    const body = bodies[from].rest();
    if (from === "agent" && request !== null) {
      if (body.length > 0) hold(body, 0, when);
      return writeRequest("whole");
    }
    if (isRestTold[from]) return;
    isRestTold[from] = true;
    const field = bodies[from].lastFieldOf(body);
    if (field.body !== "") writeChunk(from, field, { bytes: 0 }, when);
  }

  return {
    id,
    request({ method, url, headers }) {
      add((next) => {
        request = { method, url: redaction.url(url), headers: redaction.headers(headers) };
        bodies.agent = createBodyRecord(redaction, headerIn(headers, "content-encoding"));
        next();
      });
    },
    fromAgent: (bytes) => copy("agent", bytes),
    agentDone() {
      const when = now();
      add((next) => {
        rest("agent", when);
        next();
      });
    },
    response(code, headers) {
      status = code;
      const when = now();
      add((next) => {
        writeRequest("begun");
        bodies.model = createBodyRecord(redaction, headerIn(headers, "content-encoding"));
        log.write(
          {
            kind: "response-head",
            ...about,
            status: code,
            headers: redaction.headers(headers),
            latency_ms: when.latency,
          },
          when.moment,
        );
        next();
      });
    },
    fromModel: (bytes) => copy("model", bytes),
    websocket(headers) {
      add((next) => {
        const extensions = headerIn(headers, "sec-websocket-extensions") ?? "";
        bodies.agent = createMessageRecord(redaction, !extensions.includes("client_no_context_takeover"));
        bodies.model = createMessageRecord(redaction, !extensions.includes("server_no_context_takeover"));
        next();
      });
    },
    end(outcome, error) {
      if (isEnded) return;
      isEnded = true;
      const when = now();
      add((next) => {
        // What was about to become a secret stays hidden when the rest of it will not come.
        if (outcome !== "complete") for (const body of Object.values(bodies)) body.lose();
        rest("agent", when);
        rest("model", when);
        for (const body of Object.values(bodies)) body.close();
        const { model, usage } = meter.result();
        log.write(
          {
            kind: "end",
            ...about,
            outcome,
            error: error === null ? null : redaction.text(error),
            status,
            request_bytes: counted.agent,
            response_bytes: counted.model,
            chunks,
            latency_ms: when.latency,
            model,
            usage,
          },
          when.moment,
        );
        parts.onWritten();
        next();
      });
    },
  };
}

function headerIn(raw: readonly string[], name: string): string | undefined {
  const index = raw.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name);
  return index === -1 ? undefined : raw[index + 1];
}
