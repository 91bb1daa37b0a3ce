/** Prints an error: one sentence on stderr, or with --json one object on stdout, where scripts look for it. */
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Output } from "./output.ts";
import { oneLine } from "./session-text.ts";
import { isGone, noDirectory } from "./working-directory.ts";

export function tellFailure(error: unknown, output: Output, isJson: boolean): number {
  const known = error instanceof ReeveError ? error : unforeseen(error);
  if (isJson) output.printJson(errorObject(known));
  else for (const line of linesOf(known)) output.note(line);
  return known.exitStatus;
}

/** Whether a change was made that nobody answered is not known; with its key it is not made twice. */
export function linesOf(error: ReeveError): readonly string[] {
  const key = error.details["idempotency_key"];
  const again =
    typeof key === "string"
      ? [`It may have been done. To try again without doing it twice, add: --idempotency-key ${oneLine(key)}`]
      : [];
  return [oneLine(error.message), ...again];
}

export function errorObject(error: ReeveError): {
  readonly error: { readonly code: string; readonly message: string; readonly details: object };
} {
  return { error: { code: error.code, message: error.message, details: error.details } };
}

function unforeseen(error: unknown): ReeveError {
  if (isGone(error)) return noDirectory();
  return new ReeveError({
    code: "internal",
    kind: "internal",
    message: `Something went wrong inside reeve: ${messageOf(error)}; please report it.`,
  });
}
