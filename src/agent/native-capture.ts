/**
 * How an agent's adapter turns what its agent writes for capture, in the
 * directory `native/` of a session, into lines of session_oai_raw.log. Pure:
 * supervisor/attention/native-watch.ts reads, writes and removes.
 *
 * Agents write two sorts of files: an index that grows by a line for each thing
 * that happened, and bodies that a line of an index names, or that stand for
 * themselves. Names are relative to `native/`, with slashes.
 */

import { join } from "node:path";
import type { CaptureContext } from "./contract.ts";

/** One line of session_oai_raw.log, less what its writer adds. Names as in docs/spec/session-directory.md. */
export interface NativeLine {
  readonly kind: "request" | "response-head" | "chunk" | "end";
  readonly exchange: string;
  /** Milliseconds since the epoch; null: when it is read. */
  readonly at: number | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a line of an index, or a body by itself, came to. */
export interface NativeTale {
  readonly lines: readonly NativeLine[];
  /** Bodies that are told with it and are of no more use. */
  readonly spent: readonly string[];
}

export interface NativeReader {
  /** Whether a file is an index; other files are bodies. */
  isIndex(name: string): boolean;
  /** An index that quotes what the model or the user said: what has been read of it is blanked. */
  readonly quotes: boolean;
  /**
   * One whole line of an index. `body` has the text of a file; null where it is not there. Answers null where a body
   * that it names is not whole yet, or has been told before.
   */
  readLine(index: string, line: string, body: (name: string) => string | null): NativeTale | null;
  /** A body that is told as soon as it is whole, before any index names it; null where it is not one, or not whole. */
  readBody(name: string, content: string, at: number): NativeTale | null;
}

export const NOTHING_TOLD: NativeTale = { lines: [], spent: [] };

/** Where it is to write its own log, which Reeve copies without secrets; null: nobody asked for it. */
export function debugFileOf(capture: CaptureContext | null): string | null {
  return capture === null || capture.debugLog === null ? null : join(capture.nativeDir, "debug.log");
}
