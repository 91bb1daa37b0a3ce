/** Answers that say no: application/problem+json becomes the same ReeveError that the daemon threw. */
import { isErrorKind, ReeveError } from "../platform/reeve-error.ts";

export function problemFrom(status: number, text: string): ReeveError {
  const problem = parseObject(text);
  const { code, kind, detail, details } = problem;
  if (typeof code === "string" && isErrorKind(kind) && typeof detail === "string") {
    return new ReeveError({ code, kind, message: detail, details: isRecord(details) ? details : {} });
  }
  return new ReeveError({
    code: "unexpected-answer",
    kind: "internal",
    message: `The daemon answered with status ${status} and no explanation; is it of the same version? See reeve daemon status.`,
  });
}

/** A JSON object, or an empty one. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
