/** Errors on the wire: application/problem+json (RFC 9457) with Reeve's stable code. */
import { ReeveError } from "../../platform/reeve-error.ts";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function toProblem(error: ReeveError): Problem {
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

/** What went wrong inside is for the log; the caller learns only that it did. */
export const internalProblem = new ReeveError({
  code: "internal",
  kind: "internal",
  message: "Something went wrong inside Reeve; see daemon.log in its state directory.",
});
