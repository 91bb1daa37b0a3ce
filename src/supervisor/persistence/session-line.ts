/** The lines of session.log, and what all lines of logs share (docs/spec/session-directory.md). */
import { iso } from "../../platform/instant.ts";
import { parseFields } from "../../platform/json-fields.ts";
import type { LoggedEvent } from "../../session/event.ts";
import { shownData } from "../../session/shown-event.ts";

/** An event, or a line of the daemon's log. */
export type Heard =
  | { readonly event: LoggedEvent; readonly monoMs: number | null }
  | {
      readonly event: null;
      readonly at: number;
      readonly monoMs: number;
      readonly message: string;
      readonly fields: object;
    };

export function head(seq: number, at: number, monoMs: number | null) {
  return { v: 1, seq, at: iso(at), mono_ms: monoMs };
}

export function sessionLine(heard: Heard, seq: number): object {
  if (heard.event === null) {
    const { at, monoMs, message, fields } = heard;
    return { ...head(seq, at, monoMs), kind: "log", message, fields };
  }
  const { body, at, caller, via = null } = heard.event;
  const { type, ...data } = body;
  return { ...head(seq, at, heard.monoMs), kind: type, caller, via, data: shownData(data) };
}

/** Each text in it without secrets; names of fields are Reeve's own. */
export function cleaned(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((one) => cleaned(one, redact));
  if (value instanceof Error) return redact(value.message);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cleaned(one, redact)]));
}

/** A line of JSON that somebody else wrote; whatever else it is, is text. */
export function cleanedLine(line: string, redact: (text: string) => string): string {
  const fields = parseFields(line);
  return fields === null ? redact(line) : JSON.stringify(cleaned(fields, redact));
}
