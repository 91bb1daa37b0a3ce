/**
 * HTTP/1.1 answers, byte by byte as they come: enough of RFC 9112 for the
 * daemon's socket (content-length, chunked, until close), because a request
 * over node:http costs more than the whole start of `reeve list` may (decision
 * 3). Pure: it is fed bytes and calls back; it opens nothing.
 */
export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; a repeated one keeps its last value. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ResponseListener {
  head(head: ResponseHead): void;
  body(bytes: Buffer): void;
  end(): void;
}

export interface ResponseParser {
  /** Throws when the bytes are not HTTP. */
  push(bytes: Buffer): void;
  /** The other side closed: true when the answer was whole. */
  close(): boolean;
}

type Stage = "head" | "sized" | "until-close" | "chunk-size" | "chunk-data" | "chunk-end" | "trailer" | "done";

/** A daemon's heads are under 1 KB; what is longer is something else. */
const LONGEST_HEAD_BYTES = 65_536;
const LINE_FEED = 0x0a;

export function createResponseParser(listener: ResponseListener): ResponseParser {
  let stage: Stage = "head";
  let pending = Buffer.alloc(0);
  let headLines: string[] = [];
  let remaining = 0;

  const finish = (): void => {
    stage = "done";
    listener.end();
  };

  const takeLine = (line: string): void => {
    switch (stage) {
      case "head":
        if (line !== "") return void headLines.push(line);
        return takeHead();
      case "chunk-size":
        remaining = chunkSize(line);
        stage = remaining === 0 ? "trailer" : "chunk-data";
        return;
      case "chunk-end":
        if (line !== "") throw malformed("a chunk is longer than it said");
        stage = "chunk-size";
        return;
      default:
        if (line === "") finish();
    }
  };

  const takeHead = (): void => {
    const head = parseHead(headLines);
    headLines = [];
    // 1xx announces; the answer is still to come.
    if (head.status < 200) return;
    listener.head(head);
    const length = head.headers["content-length"];
    if (head.status === 204 || head.status === 304) return finish();
    if (/\bchunked$/i.test(head.headers["transfer-encoding"] ?? "")) {
      stage = "chunk-size";
    } else if (length === undefined) {
      stage = "until-close";
    } else {
      remaining = contentLength(length);
      stage = "sized";
      if (remaining === 0) finish();
    }
  };

  const takeBody = (bytes: Buffer): Buffer => {
    const part = stage === "until-close" ? bytes : bytes.subarray(0, remaining);
    if (part.length > 0) listener.body(part);
    if (stage !== "until-close") remaining -= part.length;
    if (remaining === 0 && stage === "chunk-data") stage = "chunk-end";
    else if (remaining === 0 && stage === "sized") finish();
    return bytes.subarray(part.length);
  };

  /** Takes one line or one piece of the body; what is left then, or null when more must come first. */
  const step = (rest: Buffer): Buffer | null => {
    if (rest.length === 0 || stage === "done") return null;
    if (stage === "sized" || stage === "chunk-data" || stage === "until-close") return takeBody(rest);
    const end = rest.indexOf(LINE_FEED);
    if (end < 0) return null;
    takeLine(rest.toString("latin1", 0, end).replace(/\r$/, ""));
    return rest.subarray(end + 1);
  };

  return {
    push(bytes) {
      let rest = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      for (let left = step(rest); left !== null; left = step(rest)) rest = left;
      if (rest.length > LONGEST_HEAD_BYTES) throw malformed("a line has no end");
      pending = stage === "done" ? Buffer.alloc(0) : Buffer.from(rest);
    },
    close() {
      if (stage === "until-close") finish();
      return stage === "done";
    },
  };
}

function parseHead(lines: readonly string[]): ResponseHead {
  const [first = "", ...fields] = lines;
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1];
  if (status === undefined) throw malformed("it does not begin like an answer");
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(":");
    if (colon <= 0) throw malformed("a header has no name");
    headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
  }
  return { status: Number(status), headers };
}

function chunkSize(line: string): number {
  const digits = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line)?.[1];
  if (digits === undefined) throw malformed("a chunk has no size");
  return Number.parseInt(digits, 16);
}

function contentLength(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw malformed("its length is not a number");
  return Number(value);
}

function malformed(why: string): Error {
  return new Error(`not an HTTP answer: ${why}`);
}
