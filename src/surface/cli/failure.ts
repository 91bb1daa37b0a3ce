/** An error told: one sentence on stderr, or with --json one object on stdout, where scripts look for it. */
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Output } from "./output.ts";
import { oneLine } from "./session-text.ts";

export function tellFailure(error: unknown, output: Output, isJson: boolean): number {
  const known = error instanceof ReeveError ? error : unforeseen(error);
  if (isJson) output.print(`${JSON.stringify(errorObject(known))}\n`);
  else output.note(oneLine(known.message));
  return known.exitStatus;
}

export function errorObject(error: ReeveError): {
  readonly error: { readonly code: string; readonly message: string; readonly details: object };
} {
  return { error: { code: error.code, message: error.message, details: error.details } };
}

function unforeseen(error: unknown): ReeveError {
  return new ReeveError({
    code: "internal",
    kind: "internal",
    message: `Something went wrong inside reeve: ${messageOf(error)}; please report it.`,
  });
}
