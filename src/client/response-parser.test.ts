import { describe, expect, it } from "vitest";
import { createResponseParser } from "./response-parser.ts";
import type { ResponseHead } from "./response-parser.ts";

interface Parsed {
  readonly head: ResponseHead | null;
  readonly body: string;
  readonly isEnded: boolean;
  readonly isWhole: boolean;
}

function parse(pieces: readonly Buffer[]): Parsed {
  let head: ResponseHead | null = null;
  let body = "";
  let isEnded = false;
  const parser = createResponseParser({
    head: (value) => (head = value),
    body: (bytes) => (body += bytes.toString("latin1")),
    end: () => (isEnded = true),
  });
  for (const piece of pieces) parser.push(piece);
  const isWhole = parser.close();
  return { head, body, isEnded, isWhole };
}

const ANSWERS = {
  "content-length": {
    text: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}',
    body: '{"a":1}',
  },
  chunked: {
    text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123\r\n6789\r\n0\r\nX-Trailer: 1\r\n\r\n",
    body: "abc0123\r\n6789",
  },
  "until close": { text: "HTTP/1.0 200 OK\r\n\r\nall of it\n", body: "all of it\n" },
  "nothing at all": { text: "HTTP/1.1 204 No Content\r\n\r\n", body: "" },
  "an empty body": { text: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", body: "" },
  "after a 100": { text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", body: "ok" },
};

describe("createResponseParser", () => {
  for (const [name, { text, body }] of Object.entries(ANSWERS)) {
    const bytes = Buffer.from(text, "latin1");
    const status = text.includes(" 204 ") ? 204 : 200;

    it(`reads an answer with ${name}, split at every byte`, () => {
      for (let at = 0; at <= bytes.length; at++) {
        const parsed = parse([bytes.subarray(0, at), bytes.subarray(at)]);
        expect({ ...parsed, head: parsed.head?.status }).toEqual({ head: status, body, isEnded: true, isWhole: true });
      }
      expect(parse([...bytes].map((byte) => Buffer.from([byte])))).toMatchObject({ body, isWhole: true });
    });

    it(`knows when an answer with ${name} is not whole`, () => {
      if (name === "until close") return;
      for (let at = 0; at < bytes.length; at++) expect(parse([bytes.subarray(0, at)]).isWhole).toBe(false);
    });
  }

  it("gives header names in lower case", () => {
    expect(parse([Buffer.from(ANSWERS["content-length"].text)]).head).toEqual({
      status: 200,
      headers: { "content-type": "application/json", "content-length": "7" },
    });
  });

  it.each([
    ["something else", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["a length that is none", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
    ["a chunk that is too long", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n"],
    ["a line without an end", "x".repeat(70_000)],
  ])("refuses %s", (_, text) => {
    expect(() => parse([Buffer.from(text)])).toThrow("not an HTTP answer");
  });
});
