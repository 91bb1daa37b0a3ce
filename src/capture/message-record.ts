/** The messages of a websocket in one direction, on their way into the record. Each is redacted as a whole. */
import type { BodyRecord } from "./body-record.ts";
import { bodyField } from "./body-text.ts";
import { messageDecoder } from "./content-decoder.ts";
import type { TrafficRedaction } from "./traffic-redaction.ts";
import { createFrameReader, type Message } from "./websocket-frames.ts";

export interface MessageRecord extends Omit<BodyRecord, "push"> {
  push(
    bytes: Buffer,
    write: (piece: { readonly body: Buffer; readonly bytes: number; readonly opcode: number }) => void,
    done: (isLost: boolean) => void,
  ): void;
}

/** What one message may unpack to and still be recorded. */
const MOST_UNPACKED = 16 * 1_048_576;

export function createMessageRecord(redaction: TrafficRedaction, keepsContext: boolean): MessageRecord {
  const reader = createFrameReader();
  const decoder = messageDecoder(keepsContext);
  let isLost = false;

  function unpack(payload: Buffer, done: (payload: Buffer | null) => void): void {
    const parts: Buffer[] = [];
    let length = 0;
    const take = (piece: Buffer): void => {
      length += piece.length;
      if (length <= MOST_UNPACKED) parts.push(piece);
    };
    decoder.decode(payload, take, (error) =>
      done(error !== null || length > MOST_UNPACKED ? null : Buffer.concat(parts)),
    );
  }

  return {
    push(bytes, write, done) {
      if (isLost) return done(true);
      const messages = reader.push(bytes);
      let isIncomplete = false;
      const tell = ({ bytes, opcode }: Message, payload: Buffer): void =>
        write({ body: Buffer.from(redaction.bytes(payload.toString("latin1")), "latin1"), bytes, opcode });
      const from = (first: number): void => {
        for (let index = first; index < messages.length; index += 1) {
          const message = messages[index];
          if (message === undefined) continue;
          const { payload, isCompressed } = message;
          if (isCompressed) {
            const unpacked = (text: Buffer | null): void => {
              if (text !== null) tell(message, text);
              // Without this one, the next cannot be unpacked either.
              else isLost = true;
              if (isLost) done(true);
              else from(index + 1);
            };
            return payload === null ? unpacked(null) : unpack(payload, unpacked);
          }
          if (payload === null) isIncomplete = true;
          else tell(message, payload);
        }
        done(isIncomplete);
      };
      from(0);
    },
    fieldOf: bodyField,
    lastFieldOf: bodyField,
    rest: () => Buffer.alloc(0),
    lose() {
      isLost = true;
    },
    close: () => decoder.close(),
  };
}
