/**
 * Decodes what a `content-encoding` or a websocket's extension compressed, for
 * the record only and in the background. What it makes of its input is bounded:
 * a few kilobytes may unpack to gigabytes.
 */
import type { Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";

export interface ContentDecoder {
  /**
   * Calls `onData` for each piece that comes of these bytes, then `done`; later calls must wait for that. After an error
   * nothing more can be decoded.
   */
  decode(bytes: Buffer, onData: (piece: Buffer) => void, done: (error: Error | null) => void): void;
  close(): void;
}

/** What one body may unpack to. */
export const MOST_DECODED = 64 * 1_048_576;
const PIECE_BYTES = 65_536;
const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: PIECE_BYTES };

/** Null: it is not compressed. Undefined: nobody here knows how. */
export function decoderFor(encoding: string | undefined): ContentDecoder | null | undefined {
  switch (encoding?.trim().toLowerCase() ?? "") {
    case "":
    case "identity":
      return null;
    case "gzip":
    case "x-gzip":
      return bounded(() => createGunzip(ZLIB));
    case "deflate":
      // Some servers leave out the header that the standard asks for.
      return bounded((first) => ((first & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)));
    case "br":
      return bounded(() => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH, chunkSize: PIECE_BYTES }));
    case "zstd":
      return bounded(() => createZstdDecompress({ chunkSize: PIECE_BYTES }));
    default:
      return undefined;
  }
}

/** For the messages of a websocket with permessage-deflate, in one direction. */
export function messageDecoder(keepsContext: boolean): ContentDecoder {
  const tail = Buffer.from([0x00, 0x00, 0xff, 0xff]);
  const open = (): ContentDecoder => bounded(() => createInflateRaw(ZLIB), "each");
  let inflater = open();
  return {
    decode(bytes, onData, done) {
      inflater.decode(Buffer.concat([bytes, tail]), onData, (error) => {
        if (!keepsContext && error === null) {
          inflater.close();
          inflater = open();
        }
        done(error);
      });
    },
    close: () => inflater.close(),
  };
}

/** The bound is for all that it decodes, or for each call. */
function bounded(open: (firstByte: number) => Transform, bound: "all" | "each" = "all"): ContentDecoder {
  let stream: Transform | null = null;
  let take: (piece: Buffer) => void = () => undefined;
  let finish: (error: Error | null) => void = () => undefined;
  let produced = 0;

  function settle(error: Error | null): void {
    const done = finish;
    finish = () => undefined;
    take = () => undefined;
    if (error !== null) stream?.destroy();
    done(error);
  }

  function opened(bytes: Buffer): Transform {
    const made = open(bytes[0] ?? 0);
    made.on("data", (piece: Buffer) => {
      produced += piece.length;
      if (produced > MOST_DECODED) settle(new Error(`it unpacks to more than ${MOST_DECODED} bytes`));
      else take(piece);
    });
    made.on("error", (error) => settle(error));
    // Bytes behind the end of what is compressed: the stream is over, and takes no more.
    made.on("end", () => settle(null));
    return made;
  }

  return {
    decode(bytes, onData, done) {
      if (bytes.length === 0) return done(null);
      stream ??= opened(bytes);
      if (stream.destroyed || stream.readableEnded || stream.writableEnded)
        return done(stream.readableEnded ? null : new Error("it cannot be decoded"));
      if (bound === "each") produced = 0;
      take = onData;
      finish = done;
      stream.write(bytes, (error) => settle(error ?? null));
    },
    close() {
      settle(null);
      stream?.destroy();
    },
  };
}
