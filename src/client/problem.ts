/** Answers that say no: application/problem+json becomes the same ReeveError that the daemon threw. */
import { fieldsOf, parseFields } from "../platform/json-fields.ts";
import { isErrorKind, ReeveError } from "../platform/reeve-error.ts";

export function problemFrom(status: number, text: string): ReeveError {
  const { code, kind, detail, details } = fieldsOf(parseFields(text));
  if (typeof code === "string" && isErrorKind(kind) && typeof detail === "string") {
    return new ReeveError({ code, kind, message: detail, details: fieldsOf(details) });
  }
  return new ReeveError({
    code: "unexpected-answer",
    kind: "internal",
    message: `The daemon answered with status ${status} and no explanation; is it of the same version? See reeve daemon status.`,
  });
}
