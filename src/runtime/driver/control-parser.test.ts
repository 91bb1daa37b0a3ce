import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createControlParser, unescapeOutput } from "./control-parser.ts";

type Seen = readonly [string, ...unknown[]];

function parse(chunks: readonly Buffer[], bodyLines: readonly (number | null)[] = []): readonly Seen[] {
  const seen: Seen[] = [];
  let replies = 0;
  const parser = createControlParser({
    bodyLines: () => bodyLines[replies++] ?? null,
    reply: ({ isError, lines }) => seen.push(["reply", isError, ...lines]),
    otherReply: ({ isError, lines }) => seen.push(["other", isError, ...lines]),
    output: (pane, bytes) => seen.push(["output", pane, bytes.toString("latin1")]),
    notification: (name, rest) => seen.push([name, rest]),
  });
  for (const chunk of chunks) parser.push(chunk);
  return seen;
}

const TEXT = [
  "%begin 5 1 0",
  "%end 5 1 0",
  "%session-changed $0 reeve-anchor",
  "%output %1 a\\033[1mb\\134é",
  "%extended-output %12 0 : x : y\\015\\012",
  "%begin 5 2 1",
  "one",
  "%end 5 3 1",
  "%output %1 not output",
  "%end 5 2 1",
  "%begin 6 3 1",
  "can't find pane: %9",
  "%error 6 3 1",
  "%exit",
  "",
].join("\n");

const SEEN = [
  ["other", false],
  ["session-changed", "$0 reeve-anchor"],
  ["output", "%1", Buffer.from("a\u001b[1mb\\é").toString("latin1")],
  ["output", "%12", "x : y\r\n"],
  ["reply", false, "one", "%end 5 3 1", "%output %1 not output"],
  ["reply", true, "can't find pane: %9"],
  ["exit", ""],
];

describe("control parser", () => {
  it("tells replies, output and notifications apart", () => {
    expect(parse([Buffer.from(TEXT)])).toEqual(SEEN);
  });

  it("does so however the bytes are cut", () => {
    const bytes = Buffer.from(TEXT);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        expect(parse(edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge)))).toEqual(SEEN);
      }),
    );
  });

  it("takes a counted body whole, its own end line forged in it", () => {
    const body = ["%end 7 8 1", "%error 7 8 1", "%exit", "%begin 7 9 1"];
    const text = ["%begin 7 8 1", ...body, "%end 7 8 1", "%sessions-changed", ""].join("\n");
    expect(parse([Buffer.from(text)], [4])).toEqual([
      ["reply", false, ...body],
      ["sessions-changed", ""],
    ]);
  });

  it("gives up rather than guess when a counted body is longer than announced", () => {
    expect(() => parse([Buffer.from("%begin 7 8 1\na\nb\n%end 7 8 1\n")], [1])).toThrow(/announced/);
  });

  it("gives up on a line or an answer without an end", () => {
    const megabyte = Buffer.alloc(1_048_576, "x");
    expect(() => parse([Buffer.from("%output %1 "), ...Array.from({ length: 9 }, () => megabyte)])).toThrow(/no end/);
    const line = Buffer.concat([megabyte, Buffer.from("\n")]);
    expect(() => parse([Buffer.from("%begin 7 8 1\n"), ...Array.from({ length: 65 }, () => line)])).toThrow(/no end/);
    const short = Array.from({ length: 20 }, () => Buffer.from("%output %1 a\n"));
    expect(parse([...short, Buffer.from("%output %1 b")])).toHaveLength(20);
  });

  it("decodes every byte", () => {
    const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, "0")}`;
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const encoded = Buffer.concat(
          [...bytes].map((byte) => (byte < 32 || byte === 92 ? Buffer.from(octal(byte)) : Buffer.from([byte]))),
        );
        expect(unescapeOutput(encoded).equals(Buffer.from(bytes))).toBe(true);
      }),
    );
  });
});
