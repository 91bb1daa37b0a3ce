/** Errors on the wire: application/problem+json (RFC 9457) with Reeve's stable code. */
import { ReeveError } from "../../platform/reeve-error.ts";

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function toProblem(error: ReeveError): Problem {
  return {
    type: `urn:reeve:error:${error.code}`,
    title: error.code.replaceAll("-", " "),
    status: error.httpStatus,
    detail: error.message,
    code: error.code,
    kind: error.kind,
    details: error.details,
  };
}

export interface EncodedProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** `status`: where HTTP has a number of its own for it. */
export function encodeProblem(error: ReeveError, status = error.httpStatus): EncodedProblem {
  const text = JSON.stringify({ ...toProblem(error), status });
  const { allow } = error.details;
  return {
    status,
    headers: {
      ...headersOf(text, "application/problem+json"),
      ...(Array.isArray(allow) ? { allow: allow.join(", ") } : {}),
    },
    text,
  };
}

export function headersOf(text: string, type: string): Readonly<Record<string, string>> {
  return { "content-type": type, "content-length": String(Buffer.byteLength(text)), "cache-control": "no-store" };
}

/** What went wrong inside is for the log; the caller learns only that it did. */
export const internalProblem = new ReeveError({
  code: "internal",
  kind: "internal",
  message: "Something went wrong inside Reeve; see reeve daemon logs.",
});
