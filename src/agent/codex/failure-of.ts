/**
 * The kind of a failed turn, from what Codex says of it: `codexErrorInfo` of the
 * app-server, `codex_error_info` of a rollout line, else the text (0.166.0).
 *
 * "Usage limit exceeded" stands for three things: a window of the plan that
 * resets, API credits that are used up (OpenAI's insufficient_quota), and a
 * plan without Codex. Only the text tells them apart, and the last two do not
 * reset by themselves.
 */
import { type Fields, fieldsOf, isFields, parseFields, textIn, textOf } from "../../platform/json-fields.ts";
import type { FailureKind } from "../../session/failure.ts";

export function failureOf(error: Fields): FailureKind {
  const info = error["codexErrorInfo"] ?? error["codex_error_info"];
  const text = `${textIn(error, "message") ?? ""} ${textIn(error, "additionalDetails") ?? ""}`;
  const [name = "", details] = isFields(info) ? (Object.entries(info)[0] ?? []) : [textOf(info) ?? ""];
  return byName(name.replaceAll("_", "").toLowerCase(), statusOf(details), text) ?? failureOfText(text);
}

/** Of a screen or a line without such a field. */
export function failureOfText(text: string): FailureKind {
  const body = text.startsWith("{") ? parseFields(text.trim())?.["error"] : null;
  if (isFields(body)) return CODES[textIn(body, "code") ?? textIn(body, "type") ?? ""] ?? "model-error";
  const status = /\b(?:unexpected status|last status:?) (\d{3})\b/.exec(text)?.[1];
  const byStatus = status === undefined ? null : ofStatus(Number(status));
  if (byStatus !== null) return byStatus;
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? "unknown";
}

/** Of an error that Codex passes on as the server gave it. */
const CODES: Readonly<Record<string, FailureKind | undefined>> = {
  context_length_exceeded: "context-full",
  insufficient_quota: "billing",
  invalid_api_key: "not-logged-in",
  rate_limit_exceeded: "rate-limit",
  usage_limit_reached: "quota-exhausted",
};

const TEXTS: readonly (readonly [RegExp, FailureKind])[] = [
  [/^Quota exceeded\b|\bupgrade to Plus\b|\b(?:out of|no) credits\b|\bnot included in your plan\b/i, "billing"],
  [/\bhit your usage limit\b|\busage limit has been reached\b/i, "quota-exhausted"],
  [/\brate limit (?:exceeded|reached)\b|\btoo many requests\b/i, "rate-limit"],
  [/\bran out of room in the model.s context window\b|\bexceeds the context window\b/i, "context-full"],
  [/\bnot logged in\b|\b(?:sign|log) in again\b|\bmissing environment variable\b|\bcodex login\b/i, "not-logged-in"],
  [/\bmodel is at capacity\b|\bcurrently overloaded\b|\bhigh demand\b/i, "model-error"],
  [/\bstream disconnected\b|\berror sending request\b|\bconnection (?:failed|refused|reset)\b/i, "network"],
];

/** Null where the name says nothing, or several things. */
function byName(name: string, status: number | null, text: string): FailureKind | null {
  switch (name) {
    case "usagelimitexceeded": {
      const told = failureOfText(text);
      return told === "billing" ? told : "quota-exhausted";
    }
    case "contextwindowexceeded":
      return "context-full";
    case "serveroverloaded":
    case "internalservererror":
    case "badrequest":
      return "model-error";
    case "unauthorized":
      return "not-logged-in";
    case "responsetoomanyfailedattempts":
    case "httpconnectionfailed":
    case "responsestreamconnectionfailed":
    case "responsestreamdisconnected":
      return status === null ? (failureOfText(text) === "rate-limit" ? "rate-limit" : "network") : ofStatus(status);
    default:
      return null;
  }
}

function statusOf(details: unknown): number | null {
  const { httpStatusCode, http_status_code: status = httpStatusCode } = fieldsOf(details);
  return typeof status === "number" ? status : null;
}

function ofStatus(status: number): FailureKind | null {
  if (status === 401 || status === 403) return "not-logged-in";
  if (status === 402) return "billing";
  if (status === 429) return "rate-limit";
  return status >= 400 ? "model-error" : null;
}
