/**
 * JSON-RPC on two streams, a line for each message. The SDK's own transport
 * says nothing about a line that is not JSON, and closes the connection over
 * one that is too long; this one answers both with an error and goes on. It
 * listens from the beginning: what comes before the SDK is there may be answered
 * early, and is kept for it.
 */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { EarlyAnswers } from "./early-answers.ts";

/** The daemon takes 8 MB; a larger argument should still reach it, to be refused in its own words. */
const LONGEST_LINE_BYTES = 32 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface LineTransport {
  readonly transport: Transport;
  /** Settles when a request came that nobody answers early, or the other side has closed its end. */
  readonly needed: Promise<void>;
  /** Settles when the other side has closed its end, and what it said before was handled. */
  readonly ended: Promise<void>;
  /** Tells of each message that the SDK hears, just before. */
  readonly overhear: (tell: (message: JSONRPCMessage) => void) => void;
}

export function createLineTransport(
  input: Readable,
  output: Writable,
  earlyAnswer: EarlyAnswers = () => null,
  onAnswered: (method: string) => void = () => undefined,
): LineTransport {
  let chunks: Buffer[] = [];
  let size = 0;
  let isClosed = false;
  let isStarted = false;
  let hasEnded = false;
  let tell: (message: JSONRPCMessage) => void = () => undefined;
  /** What came before there was anybody to hear it, */
  const kept: JSONRPCMessage[] = [];
  /** and the ids of what was answered all the same. */
  const answered = new Set<unknown>();
  const needed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const end = (): void => {
    hasEnded = true;
    needed.resolve();
    if (isStarted) ended.resolve();
  };
  input.on("data", take);
  input.once("end", end);
  input.once("close", end);
  input.once("error", end);
  // Whoever does not read any more has gone.
  output.once("error", end);

  const transport: Transport = {
    async start() {
      isStarted = true;
      for (const message of kept.splice(0)) deliver(message);
      if (hasEnded) setImmediate(end);
    },
    async send(message) {
      // The SDK has heard the question as well; its answer is the same.
      if (!("method" in message) && answered.delete(message.id)) return;
      await write(message);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      input.off("data", take);
      input.pause();
      transport.onclose?.();
      end();
    },
  };

  function write(message: object): Promise<void> {
    if (isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      output.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  function take(bytes: Buffer): void {
    let rest = bytes;
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      keep(rest.subarray(0, at));
      handleLine();
      rest = rest.subarray(at + 1);
    }
    keep(rest);
  }

  /** Of a line that is too long only its length is kept. */
  function keep(bytes: Buffer): void {
    size += bytes.length;
    if (size > LONGEST_LINE_BYTES) chunks = [];
    else if (bytes.length > 0) chunks.push(bytes);
  }

  function handleLine(): void {
    const line = size > LONGEST_LINE_BYTES ? null : Buffer.concat(chunks).toString("utf8").trim();
    chunks = [];
    size = 0;
    if (line === "" || isClosed) return;
    if (line === null)
      return refuse(-32600, `A message has at most ${LONGEST_LINE_BYTES} bytes; this one was longer and is ignored.`);
    const message = parse(line);
    if (message === undefined) return refuse(-32700, "This line is not JSON; send one JSON-RPC message per line.");
    if (!isMessage(message))
      return refuse(
        -32600,
        'This is not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method, or an answer.',
      );
    if (isStarted) deliver(message);
    else hearEarly(message);
  }

  function deliver(message: JSONRPCMessage): void {
    tell(message);
    transport.onmessage?.(message);
  }

  function hearEarly(message: JSONRPCMessage): void {
    kept.push(message);
    if (!("method" in message) || !("id" in message)) return;
    const answer = earlyAnswer(message);
    if (answer === null) return needed.resolve();
    answered.add(message.id);
    void write(answer).then(() => onAnswered(message.method));
  }

  function refuse(code: number, message: string): void {
    void write({ jsonrpc: "2.0", id: null, error: { code, message } });
  }

  return { transport, needed: needed.promise, ended: ended.promise, overhear: (listener) => void (tell = listener) };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { jsonrpc, method, id, params } = value as Readonly<Record<string, unknown>>;
  const isId = id === undefined || typeof id === "string" || Number.isInteger(id);
  const isParams = params === undefined || (typeof params === "object" && params !== null && !Array.isArray(params));
  if (jsonrpc !== "2.0" || !isId || !isParams) return false;
  return typeof method === "string" || (id !== undefined && ("result" in value || "error" in value));
}
