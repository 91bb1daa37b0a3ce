/**
 * Finds the model and the token counts in a response as it passes: in the
 * events of a stream, the messages of a websocket, or one JSON body. What they
 * look like is known by the agents' rooms; this file only cuts the text.
 */
import { type Fields, isFields, parseFields } from "../platform/json-fields.ts";
import type { ReadUsage, TokenUsage } from "../session/model-call.ts";

export interface UsageMeter {
  /** Text of the response, in order. */
  push(text: string): void;
  /** A whole message. */
  message(text: string): void;
  /** All answers together: there are several in a websocket. */
  result(): { readonly model: string | null; readonly usage: TokenUsage | null };
}

/** An event that is longer than this says nothing that is worth the memory. */
const LONGEST_EVENT = 4 * 1_048_576;
const WORTH_READING = /"(?:usage|usageMetadata|model|modelVersion)"/;

export function createUsageMeter(readUsage: ReadUsage): UsageMeter {
  let line = "";
  let isTooLong = false;
  let isStream: boolean | null = null;
  let model: string | null = null;
  let total: TokenUsage | null = null;
  let current: TokenUsage | null = null;

  function read(text: string): void {
    if (!WORTH_READING.test(text)) return;
    for (const event of eventsIn(text)) {
      const report = readUsage(event);
      if (report === null) continue;
      model = report.model ?? model;
      if (report.usage !== null) current = later(current, report.usage);
      if (!report.isFinal) continue;
      total = sum(total, current);
      current = null;
    }
  }

  function take(text: string): void {
    if (line.length + text.length <= LONGEST_EVENT) line += text;
    else isTooLong = true;
  }

  function endLine(): void {
    if (!isTooLong && line.startsWith("data:")) read(line.slice(5));
    line = "";
    isTooLong = false;
  }

  return {
    push(text) {
      isStream ??= /^\s*[{[]/.test(text) ? false : text.trim() === "" ? null : true;
      if (isStream === false) return take(text);
      const [first = "", ...more] = text.split("\n");
      take(first);
      for (const next of more) {
        endLine();
        take(next);
      }
    },
    message: read,
    result() {
      if (isStream === false && !isTooLong) read(line);
      else endLine();
      line = "";
      const usage = sum(total, current);
      return { model, usage };
    },
  };
}

function eventsIn(text: string): readonly Fields[] {
  const one = parseFields(text);
  if (one !== null) return [one];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isFields) : [];
  } catch {
    return [];
  }
}

function later(before: TokenUsage | null, now: TokenUsage): TokenUsage {
  return {
    input_tokens: now.input_tokens ?? before?.input_tokens ?? null,
    output_tokens: now.output_tokens ?? before?.output_tokens ?? null,
    cached_tokens: now.cached_tokens ?? before?.cached_tokens ?? null,
  };
}

function sum(one: TokenUsage | null, other: TokenUsage | null): TokenUsage | null {
  if (one === null || other === null) return one ?? other;
  const add = (a: number | null, b: number | null): number | null => (a === null ? b : a + (b ?? 0));
  return {
    input_tokens: add(one.input_tokens, other.input_tokens),
    output_tokens: add(one.output_tokens, other.output_tokens),
    cached_tokens: add(one.cached_tokens, other.cached_tokens),
  };
}
