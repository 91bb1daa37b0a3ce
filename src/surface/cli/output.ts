/**
 * What is written where: data to stdout, chatter to stderr. Written by
 * descriptor and at once, because process.stdout alone costs as much as the
 * whole of `reeve list`; a reader who left (EPIPE) ends the program quietly.
 * No hidden character gets past here, whoever wrote it.
 */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { escapeHidden, showHidden } from "../../platform/hidden-characters.ts";
import { errnoOf } from "../../platform/reeve-error.ts";

export interface Output {
  /** To stdout. */
  print(text: string): void;
  /** One line of JSON to stdout, exact also where a text holds hidden characters. */
  printJson(value: unknown): void;
  /** One line to stderr. */
  note(line: string): void;
  readonly isTerminal: boolean;
  readonly hasColour: boolean;
  /** Of the terminal; null when nobody said. */
  readonly width: number | null;
}

export function standardOutput(environment: Readonly<Record<string, string | undefined>>): Output {
  const isTerminal = isatty(1);
  const columns = Number(environment["COLUMNS"] ?? "");
  return {
    print: (text) => writeAll(1, showHidden(text)),
    printJson: (value) => writeAll(1, `${escapeHidden(JSON.stringify(value))}\n`),
    note: (line) => writeAll(2, `${showHidden(line)}\n`),
    isTerminal,
    hasColour: isTerminal && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb",
    width: isTerminal ? process.stdout.columns || 80 : Number.isInteger(columns) && columns > 0 ? columns : null,
  };
}

/** How long to wait for a reader whose pipe is full and does not block. */
const FULL_PAUSE_MS = 5;

function writeAll(descriptor: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "EPIPE") process.exit(0);
      if (errno !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PAUSE_MS);
    }
  }
}
