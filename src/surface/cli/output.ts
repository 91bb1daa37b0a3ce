/**
 * Writes data to stdout and notes to stderr. It writes to the descriptor at
 * once, because process.stdout alone takes as long as the whole of `reeve
 * list`. If nobody reads the output any more, it is dropped; the exit status
 * still says what happened. Hidden characters are made visible here.
 */
import { isAscii } from "node:buffer";
import { fstatSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { escapeHidden, showHidden } from "../../platform/hidden-characters.ts";
import { errnoOf } from "../../platform/reeve-error.ts";
import { inWords } from "./wrap.ts";

export interface Output {
  /** To stdout. */
  print(text: string): void;
  /** Sentences of Reeve's own to stdout: on a terminal they are broken between words, not where its edge happens to be. */
  say(text: string): void;
  /** One line of JSON to stdout, exact also where a text holds hidden characters. */
  printJson(value: unknown): void;
  /** One line of JSON that somebody else wrote, likewise. */
  passJson(bytes: Buffer): void;
  /** One line to stderr, broken likewise. */
  note(line: string): void;
  /** False once something was printed that nobody could read. */
  hasReader(): boolean;
  readonly hasColour: boolean;
  /** A person may be reading. */
  readonly isTerminal: boolean;
  /** Of the terminal; null when nobody said. */
  readonly width: number | null;
}

export function standardOutput(environment: Readonly<Record<string, string | undefined>>): Output {
  const isTerminal = isatty(1);
  let hasReader = true;
  const toReader = (text: string): void => {
    hasReader = hasReader && writeAll(1, text);
  };
  const columns = Number(environment["COLUMNS"] ?? "");
  const width = isTerminal ? process.stdout.columns || 80 : Number.isInteger(columns) && columns > 0 ? columns : null;
  const onTerminal = (descriptor: number, text: string): string =>
    isTerminal && width !== null && isatty(descriptor) ? inWords(showHidden(text), width) : showHidden(text);
  return {
    print: (text) => toReader(showHidden(text)),
    say: (text) => toReader(onTerminal(1, text === "" || text.endsWith("\n") ? text : `${text}\n`)),
    printJson: (value) => toReader(`${escapeHidden(JSON.stringify(value))}\n`),
    passJson: (bytes) => {
      // ASCII holds no hidden character, and most lists are ASCII: then nothing has to be decoded.
      if (!isAscii(bytes)) return toReader(`${escapeHidden(bytes.toString("utf8"))}\n`);
      hasReader = hasReader && writeAll(1, bytes) && writeAll(1, "\n");
    },
    note: (line) => void writeAll(2, onTerminal(2, `${line}\n`)),
    hasReader: () => hasReader,
    hasColour: wantsColour(environment, isTerminal),
    isTerminal,
    width,
  };
}

/** FORCE_COLOR decides where it is set (0 or false: none), as in other programs; then NO_COLOR, then the terminal. */
export function wantsColour(environment: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = environment["FORCE_COLOR"] ?? "";
  if (forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}

/** How long to wait for a reader whose pipe is full and does not block. */
const FULL_PAUSE_MS = 5;

/** False: nobody is there to read it. */
function writeAll(descriptor: number, text: string | Buffer): boolean {
  let rest: Uint8Array = typeof text === "string" ? Buffer.from(text) : text;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (isUnread(descriptor, error)) return false;
      if (errnoOf(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PAUSE_MS);
    }
  }
  return true;
}

/** A pipe or socket whose reader left, or a terminal that hung up; of a file, EIO is a broken disk. */
export function isUnread(descriptor: number, error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "EPIPE" || (errno === "EIO" && fstatSync(descriptor).isCharacterDevice());
}
