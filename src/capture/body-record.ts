/** One body of an exchange on its way into the record: decoded, then redacted, then text or base64. */
import { type BodyField, createBodyPieces } from "./body-text.ts";
import { decoderFor } from "./content-decoder.ts";
import type { TrafficRedaction } from "./traffic-redaction.ts";

export interface Piece {
  /** Redacted. */
  readonly body: Buffer;
  /** On the wire. */
  readonly bytes: number;
}

export interface BodyRecord {
  /** `done` says whether these bytes were lost: they could not be decoded. */
  push(bytes: Buffer, write: (piece: Piece) => void, done: (isLost: boolean) => void): void;
  /** Redacted bytes as a line holds them; what is left of a cut character waits for the next call. */
  fieldOf(body: Buffer): BodyField;
  lastFieldOf(body: Buffer): BodyField;
  /** What redaction holds back, when nothing more comes. */
  rest(): Buffer;
  /** Nothing more of it can be recorded. */
  lose(): void;
  close(): void;
}

/** A line holds no more of what a chunk unpacks to. */
const MOST_IN_LINE = 1_048_576;

export function createBodyRecord(redaction: TrafficRedaction, encoding: string | undefined): BodyRecord {
  const decoder = decoderFor(encoding);
  const redactor = redaction.body();
  const pieces = createBodyPieces();
  let isLost = decoder === undefined;
  const safe = (bytes: Buffer): Buffer => Buffer.from(redactor.push(bytes.toString("latin1")), "latin1");

  return {
    push(bytes, write, done) {
      if (isLost || decoder === undefined) return done(true);
      if (decoder === null) {
        write({ body: safe(bytes), bytes: bytes.length });
        return done(false);
      }
      let gathered: Buffer[] = [];
      let length = 0;
      let told = 0;
      const tell = (): void => {
        write({ body: Buffer.concat(gathered), bytes: bytes.length - told });
        told = bytes.length;
        gathered = [];
        length = 0;
      };
      const take = (piece: Buffer): void => {
        const body = safe(piece);
        gathered.push(body);
        length += body.length;
        if (length >= MOST_IN_LINE) tell();
      };
      decoder.decode(bytes, take, (error) => {
        isLost ||= error !== null;
        if (length > 0 || told === 0) tell();
        done(error !== null);
      });
    },
    fieldOf: (body) => pieces.push(body),
    lastFieldOf: (body) => pieces.end(body),
    rest: () => (isLost ? Buffer.alloc(0) : Buffer.from(redactor.flush(), "latin1")),
    lose() {
      isLost = true;
    },
    close: () => decoder?.close(),
  };
}
