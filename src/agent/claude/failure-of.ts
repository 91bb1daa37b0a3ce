/**
 * The kind of a failed turn, from what Claude Code says of it (2.1.325): the
 * word in `error` of the StopFailure hook and of a transcript line, the
 * `apiError` and status that only the line has, then the text. `rate_limit`
 * stands for a limit of the plan, which resets in hours, and for requests that
 * came too fast; `server_error` for the network, too.
 */
import { type Fields, textIn } from "../../platform/json-fields.ts";
import type { FailureKind } from "../../session/failure.ts";

export interface ClaudeError {
  readonly error: string | null;
  /** Only in the transcript: usage_limit_reached, connection_failed. */
  readonly apiError?: string | null;
  readonly text: string;
}

/** Of the record of a StopFailure hook. */
export function errorOfHook(record: Fields): ClaudeError {
  const text = `${textIn(record, "last_assistant_message") ?? ""} ${textIn(record, "error_details") ?? ""}`.trim();
  return { error: textIn(record, "error"), text };
}

export function failureOf({ error, apiError = null, text }: ClaudeError): FailureKind {
  if (apiError === "usage_limit_reached") return "quota-exhausted";
  if (apiError === "connection_failed") return "network";
  switch (error) {
    case "rate_limit":
      return PLAN_LIMIT.test(text) ? "quota-exhausted" : "rate-limit";
    case "billing_error":
      return "billing";
    case "authentication_failed":
    case "oauth_org_not_allowed":
    case "verification_required":
      return "not-logged-in";
    case "overloaded":
    case "server_error":
      return NETWORK.test(text) ? "network" : "model-error";
    default:
      return failureOfText(text);
  }
}

/** Of a text alone: an error of another word, or what a process printed last. */
export function failureOfText(text: string): FailureKind {
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? "unknown";
}

/** Wording changed three times in a year: "usage limit reached", "hit your session limit", "hit your 5-hour limit". */
const PLAN_LIMIT =
  /\b(?:usage|session|weekly|daily|hour|opus|sonnet) limits?\b|\bout of (?:extra )?usage\b|\bhit your limit\b/i;
const NETWORK =
  /\(E[A-Z]{5,}\)|\bconnection (?:error|dropped|refused|closed|timed out)\b|\bunable to connect\b|\bfetch failed\b/i;

const TEXTS: readonly (readonly [RegExp, FailureKind])[] = [
  [/\bprompt is too long\b|\bcontext (?:window|limit) /i, "context-full"],
  [/\bcredit balance is too low\b/i, "billing"],
  [/\bnot logged in\b|\bplease run \/login\b|\binvalid api key\b/i, "not-logged-in"],
  [PLAN_LIMIT, "quota-exhausted"],
  [NETWORK, "network"],
  [/^API Error: (?:429|Request rejected \(429\))/, "rate-limit"],
  [/^API Error\b/, "model-error"],
];
