/** The part of a session's record that its time-outs are counted in (countdown.ts). */
import { moment } from "./moment.ts";
import { added, instant, listOf, object, type Of, orNull, recordOf, text } from "./shape.ts";
import { timeOutAction, timeOutChoice, timeOutName } from "./time-out.ts";

const fired = object({
  /** By the wall clock, for people. */
  at: instant,
  /** After how long. */
  afterMs: instant,
  action: timeOutAction,
  /** Why the action came to nothing, or was not taken: for people. Null: it was taken, or is about to be. */
  failed: orNull(text),
});
export interface FiredTimeOut extends Of<typeof fired> {}

const countdown = object({
  which: timeOutName,
  /** Tells this turn, question or idle time from the next. */
  cause: text,
  /** What had passed when it was last stopped, */
  spentMs: instant,
  /** and when it was started after that; null while it stands still. */
  since: orNull(moment),
  fired: orNull(fired),
});
export interface Countdown extends Of<typeof countdown> {}

export const timeOutRecord = object({
  /** What the start of the session chose (time-out.ts); everything else is in the settings. */
  chosen: added(recordOf(timeOutChoice), {}),
  countdowns: added(listOf(countdown), []),
});
