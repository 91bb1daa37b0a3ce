/**
 * What Claude Code says of limits (2.1.325).
 *
 * With a claude.ai plan, the line of the failed turn has `quotaLimits`, with the
 * moment of the reset in Unix seconds. Two milliseconds later comes a notice
 * that it continues by itself, unless the user has switched that off or it did
 * so three times already; it then does, 30 to 90 s after the reset. With an API
 * key nothing is said but the text, and nothing continues. How much is used is
 * told nowhere but on the status line, which is the user's.
 *
 * The notice does not name the limit: so all limits of a plan have one name
 * here, and the text tells which it is.
 */
import { type Fields, fieldsOf, fieldsOrNull, textIn } from "../../platform/json-fields.ts";
import type { LimitReading } from "../../session/limit.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { NO_RESET, type ResetTime, resetTimeIn } from "../reset-time.ts";
import { type ClaudeError, failureOf } from "./failure-of.ts";

export const PLAN_LIMIT = "usage";

/** Of an error, or none where it is about something else. `at`: when it was written, where that is known. */
export function limitOfError(error: ClaudeError, quota: Fields, at: number | null): readonly LimitReading[] {
  const kind = failureOf(error);
  if (kind !== "rate-limit" && kind !== "quota-exhausted") return [];
  const text = stripTerminal(error.text).trim();
  const seconds = quota["resetsAt"];
  const time: ResetTime = Number.isSafeInteger(seconds)
    ? { resetsAt: Number(seconds) * 1000, confidence: "stated" }
    : at === null
      ? NO_RESET
      : resetTimeIn(text, at);
  const limit = kind === "rate-limit" ? "requests" : PLAN_LIMIT;
  const usedPercent = kind === "rate-limit" ? null : 100;
  return [{ limit, status: "rejected", usedPercent, ...time, ...(at === null ? {} : { at }), text }];
}

/** Of the assistant line that stands for a failed request. Both marks are wanted: an answer may quote anything. */
export function limitsInError(line: Fields, text: string, at: number | null): readonly LimitReading[] {
  const error = textIn(line, "error");
  if (line["isApiErrorMessage"] !== true || error === null) return [];
  const quota = fieldsOrNull(line["quotaLimits"]) ?? fieldsOf(fieldsOf(line["apiErrorParams"])["rate_limit_info"]);
  return limitOfError({ error, apiError: textIn(line, "apiError"), text }, quota, at);
}

/** `{"type":"system","subtype":"informational","content":"Usage limit reached · continuing automatically at 7:52am · …"}` */
export function limitsInNotice(line: Fields, at: number | null): readonly LimitReading[] {
  const content = line["subtype"] === "informational" ? textIn(line, "content") : null;
  if (content === null || !/^Usage limit reached\b.{0,20}\bcontinuing automatically\b/.test(content)) return [];
  const time = at === null ? NO_RESET : resetTimeIn(content, at);
  const text = stripTerminal(content).trim();
  const said = at === null ? {} : { at };
  return [{ limit: PLAN_LIMIT, status: "rejected", usedPercent: 100, ...time, ...said, resumesItself: true, text }];
}
