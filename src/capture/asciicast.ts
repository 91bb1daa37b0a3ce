/**
 * The format of a terminal recording: asciicast, version 2. The first line is a
 * JSON object, the header: `version` (2), `width` and `height` in characters,
 * `timestamp` (wall time of its beginning, in seconds), `title`, and `env` with
 * TERM and SHELL. Each line after it is an event, `[seconds, code, data]`, with
 * the seconds since the beginning, which never go back:
 *
 * - `"o"`: this was written to the terminal.
 * - `"r"`: the terminal has another size, `"80x24"`.
 * - `"m"`: a marker, a sentence: where recording was interrupted, or the session was started again.
 */
export interface CastHeader {
  readonly columns: number;
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly title: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface CastEvent {
  /** Milliseconds on the monotonic clock. */
  readonly at: number;
  readonly code: "o" | "r" | "m";
  readonly data: string;
}

/** A line of the file must be small enough to be found again from the file's end. */
const LONGEST_DATA = 32_768;
/** Each character may take six, as `\u001b` does. */
export const LONGEST_LINE = 6 * LONGEST_DATA + 64;

/** Of a header that was cut off, this much is enough to know it by. */
export const HEADER_BEGINNING = '{"ver';

export function headerLine({ columns, rows, beganAt, title, environment }: CastHeader): string {
  const timestamp = Math.floor(beganAt / 1_000);
  return lineOf({ version: 2, width: columns, height: rows, timestamp, title, env: environment });
}

/** One line, or several for data that is long. */
export function eventLines(seconds: number, { code, data }: Pick<CastEvent, "code" | "data">): string {
  const time = Math.round(seconds * 1_000) / 1_000;
  if (data.length <= LONGEST_DATA) return lineOf([time, code, data]);
  let lines = "";
  for (let from = 0; from < data.length;) {
    let until = Math.min(data.length, from + LONGEST_DATA);
    // Not between the two halves of one character.
    if (until < data.length && /[\ud800-\udbff]/.test(data[until - 1] ?? "")) until -= 1;
    lines += lineOf([time, code, data.slice(from, until)]);
    from = until;
  }
  return lines;
}

/** The time of the last event among these lines; 0 where there is none. */
export function lastSeconds(lines: readonly string[]): number {
  for (const line of lines.toReversed()) {
    const event = parsed(line);
    if (Array.isArray(event) && typeof event[0] === "number" && event[0] >= 0) return event[0];
  }
  return 0;
}

export function isHeader(line: string): boolean {
  const header = parsed(line);
  return typeof header === "object" && header !== null && "version" in header && header.version === 2;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** So that nothing happens to a terminal that shows the file itself. */
function lineOf(value: unknown): string {
  const json = JSON.stringify(value);
  return `${/[\u007f-\u009f]/.test(json) ? json.replaceAll(/[\u007f-\u009f]/g, escaped) : json}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
