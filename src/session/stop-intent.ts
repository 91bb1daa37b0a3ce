/** The part of a session's record that says that its processes are to be ended. */
import type { CallerName } from "./caller.ts";
import { flag, instant, later, object, oneOf, orNull, text, textOf } from "./shape.ts";
import { timeOutName } from "./time-out.ts";

/**
 * The processes of this incarnation are to be ended, and what follows then.
 * Present from the commit of the intent until the end is proven.
 */
export const stopIntent = object({
  // oxlint-disable-next-line unicorn/no-thenable -- the field has this name; nobody awaits a shape
  next: oneOf("stopped", "restart", "rest"),
  graceMs: instant,
  /** Held back while a turn is under way, and until then it may be taken back. */
  afterTurn: flag,
  /** Who asked for it; null where nobody did, or an earlier version wrote it. */
  by: later(orNull(textOf<CallerName>()), null),
  /** The time-out that ends it, and what lasted too long; null: none does. */
  timedOut: later(orNull(object({ which: timeOutName, text })), null),
});
