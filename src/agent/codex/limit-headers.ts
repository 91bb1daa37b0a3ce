/**
 * What OpenAI's responses say of a plan's windows, as the capture proxy sees
 * them. Over HTTP in headers: `x-codex-primary-used-percent`, `-window-minutes`,
 * `-reset-at` (Unix seconds), the same of `secondary`, other limits as
 * `x-<limit>-primary-…`, and `x-codex-credits-{has-credits,unlimited}`. Over a
 * websocket in messages: `codex.rate_limits`, and `error` with such headers in
 * it. Both are the snapshot that its protocol tells, so they are read as one.
 */
import { type Fields, fieldsOf, textIn } from "../../platform/json-fields.ts";
import type { LimitReading } from "../../session/limit.ts";
import { windowsOf } from "./rate-limit.ts";

type Headers = Readonly<Record<string, string>>;

const USED = /^x-(.+)-(?:primary|secondary)-used-percent$/;

/** Beside what every proxy reports. */
export const LIMIT_HEADERS = ["x-codex-*"] as const;

export const LIMIT_MESSAGES = ["codex.rate_limits", "error"] as const;

/** `{"type":"codex.rate_limits","metered_limit_name":…,"rate_limits":{"primary":{…},"secondary":{…}},"credits":{…}}` (0.166.0) */
export function readLimitMessage(message: Fields, seen: { readonly at: number }): readonly LimitReading[] {
  if (textIn(message, "type") === "error") return readLimitHeaders(headersIn(message), seen);
  const id = textIn(message, "metered_limit_name") ?? textIn(message, "limit_name") ?? "codex";
  const limits = fieldsOf(message["rate_limits"]);
  const window = (name: string): object => {
    const { reset_at: resetsAt, ...rest } = fieldsOf(limits[name]);
    return { ...rest, resets_at: resetsAt };
  };
  const credits = message["credits"];
  return windowsOf(
    { limit_id: normalised(id), primary: window("primary"), secondary: window("secondary"), credits },
    seen.at,
  );
}

function headersIn(message: Fields): Headers {
  const texts = Object.entries(fieldsOf(message["headers"])).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  return Object.fromEntries(texts) as Headers;
}

/** As Codex names it in its protocol, so that it is one limit wherever it is read. */
function normalised(id: string): string {
  return id.trim().toLowerCase().replaceAll("-", "_");
}

export function readLimitHeaders(headers: Headers, { at }: { readonly at: number }): readonly LimitReading[] {
  const ids = new Set(Object.keys(headers).flatMap((name) => USED.exec(name)?.[1] ?? []));
  return [...ids].flatMap((id) => {
    const window = (name: string): object => ({
      used_percent: numberIn(headers, `x-${id}-${name}-used-percent`),
      window_minutes: numberIn(headers, `x-${id}-${name}-window-minutes`),
      resets_at: numberIn(headers, `x-${id}-${name}-reset-at`),
    });
    const credits = {
      has_credits: headers["x-codex-credits-has-credits"]?.toLowerCase() === "true",
      unlimited: headers["x-codex-credits-unlimited"]?.toLowerCase() === "true",
    };
    return windowsOf(
      { limit_id: normalised(id), primary: window("primary"), secondary: window("secondary"), credits },
      at,
    );
  });
}

function numberIn(headers: Headers, name: string): number | undefined {
  const text = headers[name];
  const number = Number(text);
  return text === undefined || text === "" || !Number.isFinite(number) ? undefined : number;
}
