import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFrameReader, encodeFrame, type Frame, OPCODE } from "./websocket-frame.ts";

/** As a server writes it: not masked. */
function frame(opcode: number, payload: Buffer, isFinal = true): Buffer {
  const first = (isFinal ? 0x80 : 0) | opcode;
  if (payload.length < 126) return Buffer.concat([Buffer.from([first, payload.length]), payload]);
  const long = Buffer.alloc(10);
  long[0] = first;
  long[1] = 127;
  long.writeBigUInt64BE(BigInt(payload.length), 2);
  if (payload.length > 65_535) return Buffer.concat([long, payload]);
  return Buffer.concat([Buffer.from([first, 126, payload.length >> 8, payload.length & 0xff]), payload]);
}

function read(bytes: Buffer, maxBytes = 1_000_000, step = bytes.length): readonly Frame[] {
  const reader = createFrameReader(maxBytes);
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += Math.max(step, 1))
    frames.push(...reader.push(bytes.subarray(at, at + step)));
  return frames;
}

describe("createFrameReader", () => {
  test("messages of any length arrive whole, however they are cut", () => {
    const length = fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_000);
    fc.assert(
      fc.property(fc.array(length, { maxLength: 4 }), fc.integer({ min: 1, max: 70_000 }), (lengths, step) => {
        const texts = lengths.map((count) => "é".repeat(count / 2));
        const bytes = Buffer.concat(texts.map((text) => frame(OPCODE.text, Buffer.from(text))));
        expect(read(bytes, 1_000_000, step)).toEqual(texts.map((text) => ({ type: "message", text })));
      }),
      { numRuns: 30 },
    );
  });

  test("fragments are joined, a ping may come between them", () => {
    const bytes = Buffer.concat([
      frame(OPCODE.text, Buffer.from("a"), false),
      frame(OPCODE.ping, Buffer.from("?")),
      frame(OPCODE.continuation, Buffer.from("b"), false),
      frame(OPCODE.continuation, Buffer.from("c")),
    ]);
    expect(read(bytes)).toEqual([
      { type: "ping", payload: Buffer.from("?") },
      { type: "message", text: "abc" },
    ]);
  });

  test("a close says why", () => {
    expect(read(frame(OPCODE.close, Buffer.from([3, 0xe9, 0x62, 0x79, 0x65])))).toEqual([
      { type: "close", why: "the server closed the connection (1001: bye)" },
    ]);
  });

  test.each([
    ["too long", frame(OPCODE.text, Buffer.alloc(200)), "a message is too long"],
    [
      "too long in fragments",
      Buffer.concat([frame(1, Buffer.alloc(90), false), frame(0, Buffer.alloc(90))]),
      "a message is too long",
    ],
    ["masked", encodeFrame(OPCODE.text, Buffer.from("x")), "a server's frame is masked"],
    ["a fragment of nothing", frame(OPCODE.continuation, Buffer.from("x")), "a fragment is out of order"],
    ["binary", frame(OPCODE.binary, Buffer.from("x")), "a frame has the unknown kind 2"],
  ])("%s ends the reading", (_name, bytes, why) => {
    expect(read(Buffer.concat([bytes, frame(OPCODE.text, Buffer.from("after"))]), 100)).toEqual([
      { type: "broken", why },
    ]);
  });

  test("no bytes make it throw", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void read(Buffer.from(bytes), 100, 7)));
  });
});

test("a client's frame is masked and unmasks to what was given", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const encoded = encodeFrame(OPCODE.text, Buffer.from(bytes));
      const start = bytes.length < 126 ? 2 : 4;
      expect((encoded[1] ?? 0) & 0x80).toBe(0x80);
      const mask = encoded.subarray(start, start + 4);
      const payload = encoded.subarray(start + 4).map((byte, at) => byte ^ (mask[at & 3] ?? 0));
      expect(Buffer.from(payload)).toEqual(Buffer.from(bytes));
    }),
  );
});
