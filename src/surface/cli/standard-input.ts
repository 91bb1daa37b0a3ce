/** All of stdin; a pipe that does not block is waited for. */
import { readSync } from "node:fs";
import { errnoOf } from "../../platform/reeve-error.ts";

const EMPTY_PAUSE_MS = 10;

export function readStandardInput(): Buffer {
  const chunks: Buffer[] = [];
  const buffer = Buffer.alloc(65_536);
  for (;;) {
    try {
      const size = readSync(0, buffer);
      if (size === 0) return Buffer.concat(chunks);
      chunks.push(Buffer.from(buffer.subarray(0, size)));
    } catch (error) {
      if (errnoOf(error) === "EOF") return Buffer.concat(chunks);
      if (errnoOf(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EMPTY_PAUSE_MS);
    }
  }
}
