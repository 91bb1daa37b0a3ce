/**
 * Frames of RFC 6455: bytes in, whole messages out. Fragments are joined, what
 * exceeds the limit or breaks the rules ends the reading. Pure; owns no socket.
 */
import { randomBytes } from "node:crypto";

export type Frame =
  | { readonly type: "message"; readonly text: string }
  | { readonly type: "ping"; readonly payload: Buffer }
  | { readonly type: "close"; readonly why: string }
  /** The other side broke the rules; nothing after it is read. */
  | { readonly type: "broken"; readonly why: string };

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameReader {
  push(bytes: Buffer): readonly Frame[];
}

export function createFrameReader(maxBytes: number): FrameReader {
  let chunks: Buffer[] = [];
  let buffered = 0;
  let needed = 2;
  let parts: Buffer[] = [];
  let partBytes = 0;
  let isBroken = false;

  function push(bytes: Buffer): readonly Frame[] {
    const frames: Frame[] = [];
    if (isBroken) return frames;
    chunks.push(bytes);
    buffered += bytes.length;
    // Joined only once there is enough: a message of many megabytes comes in many small pieces.
    while (buffered >= needed && !isBroken) {
      const whole = chunks.length === 1 ? (chunks[0] ?? bytes) : Buffer.concat(chunks);
      const header = headerOf(whole);
      if (header !== null && partBytes + header.length > maxBytes) return broken(frames, "a message is too long");
      if (header === null || whole.length < header.size + header.length) {
        needed = header === null ? whole.length + 1 : header.size + header.length;
        chunks = [whole];
        break;
      }
      const rest = whole.subarray(header.size + header.length);
      const frame = accept(header, whole.subarray(header.size, header.size + header.length));
      chunks = [rest];
      buffered = rest.length;
      needed = 2;
      if (frame?.type === "broken") return broken(frames, frame.why);
      if (frame !== null) frames.push(frame);
    }
    return frames;
  }

  function broken(frames: Frame[], why: string): readonly Frame[] {
    isBroken = true;
    chunks = [];
    parts = [];
    return [...frames, { type: "broken", why }];
  }

  function accept({ opcode, isFinal, isMasked }: Header, payload: Buffer): Frame | null {
    if (isMasked) return { type: "broken", why: "a server's frame is masked" };
    switch (opcode) {
      case OPCODE.ping:
        return { type: "ping", payload };
      case OPCODE.pong:
        return null;
      case OPCODE.close:
        return { type: "close", why: closeReason(payload) };
      case OPCODE.text:
      case OPCODE.continuation: {
        if ((opcode === OPCODE.text) !== (parts.length === 0))
          return { type: "broken", why: "a fragment is out of order" };
        parts.push(payload);
        partBytes += payload.length;
        if (!isFinal) return null;
        const text = Buffer.concat(parts).toString("utf8");
        parts = [];
        partBytes = 0;
        return { type: "message", text };
      }
      default:
        return { type: "broken", why: `a frame has the unknown kind ${opcode}` };
    }
  }

  return { push };
}

/** From a client to a server: one frame, masked, as the protocol asks of clients. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const masked = Buffer.from(payload);
  for (let at = 0; at < masked.length; at += 1) masked[at] = (masked[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return Buffer.concat([lengthHeader(opcode, payload.length), mask, masked]);
}

interface Header {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly isMasked: boolean;
  readonly length: number;
  /** Bytes before the payload. */
  readonly size: number;
}

function headerOf(bytes: Buffer): Header | null {
  if (bytes.length < 2) return null;
  const [first = 0, second = 0] = bytes;
  const isMasked = (second & 0x80) !== 0;
  const common = { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, isMasked };
  const short = second & 0x7f;
  const size = (short < 126 ? 2 : short === 126 ? 4 : 10) + (isMasked ? 4 : 0);
  if (bytes.length < size) return null;
  if (short < 126) return { ...common, length: short, size };
  return { ...common, length: short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)), size };
}

function lengthHeader(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, 0x80 | length]);
  if (length < 65_536) return Buffer.from([first, 0x80 | 126, length >> 8, length & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = first;
  header[1] = 0x80 | 127;
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}

function closeReason(payload: Buffer): string {
  if (payload.length < 2) return "the server closed the connection";
  const text = payload.toString("utf8", 2);
  return `the server closed the connection (${payload.readUInt16BE(0)}${text === "" ? "" : `: ${text}`})`;
}
