import { ReeveError } from "../../platform/reeve-error.ts";

/** A refusal of a command line; its message says what to do instead. */
export function usage(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message: message.replace("?.", "?") });
}
