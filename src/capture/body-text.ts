/**
 * Turns bytes that come in pieces into what a line can hold: text where they
 * are UTF-8, else base64. A character that is cut between two pieces goes with
 * the second.
 */
import { isUtf8 } from "node:buffer";

export interface BodyField {
  readonly body: string;
  readonly encoding?: "base64";
}

export function bodyField(bytes: Buffer): BodyField {
  return isUtf8(bytes) ? { body: bytes.toString() } : { body: bytes.toString("base64"), encoding: "base64" };
}

export interface BodyPieces {
  push(bytes: Buffer): BodyField;
  /** The last ones. */
  end(bytes: Buffer): BodyField;
}

export function createBodyPieces(): BodyPieces {
  let held: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const length = all.length - begunAtEnd(all);
      held = all.subarray(length);
      return bodyField(all.subarray(0, length));
    },
    end: (bytes) => bodyField(Buffer.concat([held, bytes])),
  };
}

/** How many bytes at the end begin a character that goes on. */
function begunAtEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
