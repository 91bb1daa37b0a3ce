/** How long ago something in a record was, whatever became of the wall clock since. */
import type { Moment } from "../platform/clock.ts";
import type { Context } from "./input.ts";
import { instant, object, text } from "./shape.ts";

export const moment = object({ at: instant, boot: text, upMs: instant });

/**
 * Within one boot the machine's own counter tells. If the machine was started
 * again in between, only the wall clock links the two: it may be wrong, but at
 * least as much time has passed as this boot is old.
 */
export function elapsedMs(since: Moment, now: Moment): number {
  if (since.boot === now.boot) return Math.max(0, now.upMs - since.upMs);
  return Math.max(0, now.upMs, now.at - since.at);
}

/** Of an input without a moment, as in pure tests, the wall clock is all there is. */
export function momentOf({ now, moment: given }: Context): Moment {
  return given ?? { at: now, boot: "", upMs: now };
}
