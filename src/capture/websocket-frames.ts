/**
 * Reads the messages of a websocket from a copy of its bytes, in one direction.
 * It is no endpoint: it answers nothing and forgives everything but what it
 * cannot follow.
 */
export interface Message {
  /** 1 text, 2 binary, 8 close, 9 ping, 10 pong. */
  readonly opcode: number;
  readonly isCompressed: boolean;
  /** Unmasked; null if it was too large to be kept. */
  readonly payload: Buffer | null;
  /** On the wire, with its headers. */
  readonly bytes: number;
}

export interface FrameReader {
  push(bytes: Buffer): readonly Message[];
}

/** Of one message, as it is on the wire. */
export const MOST_MESSAGE = 8 * 1_048_576;
const LONGEST_HEADER = 14;

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly isCompressed: boolean;
  readonly mask: Buffer | null;
  readonly length: number;
  readonly headerLength: number;
  taken: number;
}

export function createFrameReader(): FrameReader {
  let header: Buffer = Buffer.alloc(0);
  let frame: Frame | null = null;
  /** The message of which frames have come, and the control frame that may stand between them. */
  let message = begin();
  let control = begin();

  function push(bytes: Buffer): readonly Message[] {
    const whole: Message[] = [];
    let at = 0;
    while (at < bytes.length || (frame !== null && frame.taken === frame.length)) {
      if (frame === null) {
        const before = header.length;
        header = Buffer.concat([header, bytes.subarray(at, at + LONGEST_HEADER - before)]);
        const read = frameOf(header);
        if (read === null) return whole;
        at += read.headerLength - before;
        header = Buffer.alloc(0);
        frame = read;
        start(read);
      }
      const part = bytes.subarray(at, at + frame.length - frame.taken);
      take(frame, part);
      at += part.length;
      if (frame.taken === frame.length) {
        const ended = finish(frame);
        frame = null;
        if (ended !== null) whole.push(ended);
      }
    }
    return whole;
  }

  const of = (frame: Frame): ReturnType<typeof begin> => (frame.opcode >= 8 ? control : message);

  function start(frame: Frame): void {
    const into = of(frame);
    into.bytes += frame.headerLength + frame.length;
    if (frame.opcode === 0) return;
    into.opcode = frame.opcode;
    into.isCompressed = frame.isCompressed;
  }

  function take(frame: Frame, part: Buffer): void {
    const into = of(frame);
    into.length += part.length;
    if (into.length <= MOST_MESSAGE) into.parts.push(unmasked(part, frame.mask, frame.taken));
    else into.parts.length = 0;
    frame.taken += part.length;
  }

  function finish(frame: Frame): Message | null {
    if (!frame.isLast) return null;
    const { opcode, isCompressed, parts, length, bytes } = of(frame);
    if (frame.opcode >= 8) control = begin();
    else message = begin();
    return { opcode, isCompressed, payload: length > MOST_MESSAGE ? null : Buffer.concat(parts), bytes };
  }

  return { push };
}

function begin() {
  return { opcode: 0, isCompressed: false, parts: [] as Buffer[], length: 0, bytes: 0 };
}

/** Null: more of it is to come. */
function frameOf(header: Buffer): Frame | null {
  if (header.length < 2) return null;
  const [first = 0, second = 0] = header;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const isMasked = (second & 0x80) !== 0;
  const headerLength = 2 + lengthBytes + (isMasked ? 4 : 0);
  if (header.length < headerLength) return null;
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2));
  return {
    opcode: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    isCompressed: (first & 0x40) !== 0,
    mask: isMasked ? Buffer.from(header.subarray(2 + lengthBytes, headerLength)) : null,
    length,
    headerLength,
    taken: 0,
  };
}

function unmasked(part: Buffer, mask: Buffer | null, from: number): Buffer {
  const copy = Buffer.from(part);
  if (mask === null) return copy;
  for (let index = 0; index < copy.length; index += 1)
    copy[index] = (copy[index] ?? 0) ^ (mask[(from + index) & 3] ?? 0);
  return copy;
}
