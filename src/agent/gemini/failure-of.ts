/**
 * The kind of a failed turn and what it says of limits, from the error that
 * Gemini CLI passes on as the API gave it (0.61.0):
 * `[API Error: {"error":{"code":429,"message":…,"status":…,"details":[…]}}]`.
 *
 * It rarely comes that far: 429, 499 and 5xx are asked again without a word, and
 * a quota opens a dialog (rules/gemini.toml).
 */
import { type Fields, fieldsOf, listIn, parseFields, textIn } from "../../platform/json-fields.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { FailureKind } from "../../session/failure.ts";
import type { LimitReading } from "../../session/limit.ts";
import { type ResetTime, resetTimeIn, spanOf } from "../reset-time.ts";

export function failureOf(content: string): FailureKind {
  const error = apiErrorIn(content);
  const message = textIn(error, "message") ?? content;
  const reason = textIn(detailOf(error, "ErrorInfo"), "reason") ?? "";
  if (reason === "INSUFFICIENT_G1_CREDITS_BALANCE" || /\bprepayment credits\b/i.test(message)) return "billing";
  if (reason === "API_KEY_INVALID" || /\bAPI key not (?:valid|found)\b/i.test(message)) return "not-logged-in";
  if (reason === "QUOTA_EXHAUSTED" || isDaily(error) || /\bexhausted your (?:daily )?quota\b/i.test(message))
    return "quota-exhausted";
  if (/\binput token count\b.{0,40}\bexceeds\b/i.test(message)) return "context-full";
  return byCode(Number(error["code"])) ?? (NETWORK.test(content) ? "network" : "unknown");
}

const NETWORK =
  /\bfetch failed\b|\bE(?:CONNREFUSED|CONNRESET|NOTFOUND|TIMEDOUT|AI_AGAIN|PIPE)\b|\bnetwork\b|\bsocket hang up\b|\bterminated\b/i;

function byCode(code: number): FailureKind | null {
  if (code === 401 || code === 403) return "not-logged-in";
  if (code === 429 || code === 499) return "rate-limit";
  return code >= 400 ? "model-error" : null;
}

/** Of an error about a limit; none otherwise. A limit per day names no moment. */
export function limitsIn(content: string, at: number | null): readonly LimitReading[] {
  const kind = failureOf(content);
  if (kind !== "rate-limit" && kind !== "quota-exhausted") return [];
  const error = apiErrorIn(content);
  const text = stripTerminal(textIn(error, "message") ?? content).trim();
  const model = textIn(fieldsOf(violationsOf(error)[0]?.["quotaDimensions"]), "model");
  const limit = `${model ?? "requests"}${kind === "quota-exhausted" ? " per day" : ""}`;
  const time = resetOf(error, text, kind, at);
  return [{ limit, status: "rejected", usedPercent: null, ...time, ...(at === null ? {} : { at }), text }];
}

function resetOf(error: Fields, text: string, kind: FailureKind, at: number | null): ResetTime {
  // What it says to a daily quota is the delay of a request per minute.
  if (at === null || kind === "quota-exhausted") return { resetsAt: null, confidence: "none" };
  const delay = spanOf(textIn(detailOf(error, "RetryInfo"), "retryDelay") ?? "");
  if (delay !== null) return { resetsAt: at + delay, confidence: "stated" };
  return resetTimeIn(text, at);
}

function isDaily(error: Fields): boolean {
  return violationsOf(error).some((violation) => /PerDay|Daily/.test(textIn(violation, "quotaId") ?? ""));
}

function violationsOf(error: Fields): readonly Fields[] {
  return listIn(detailOf(error, "QuotaFailure"), "violations");
}

function detailOf(error: Fields, type: string): Fields {
  return fieldsOf(listIn(error, "details").find((detail) => textIn(detail, "@type")?.endsWith(`google.rpc.${type}`)));
}

function apiErrorIn(content: string): Fields {
  const json = /^\[API Error: (\{[^]*\})\]$/.exec(content.trim())?.[1];
  return fieldsOf(json === undefined ? null : parseFields(json)?.["error"]);
}
