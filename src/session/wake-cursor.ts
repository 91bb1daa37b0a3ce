/** The part of a session's record that says what it was told of the sessions that it started, and of its mail. */
import { added, count, later, object, type Of, orNull, recordOf, text } from "./shape.ts";

/** A wake that was admitted as a message, until that has its outcome. */
const openWake = object({
  messageId: text,
  /** The cursor before it, and the one after it. */
  since: count,
  through: count,
  /** How many events and mails it is about. */
  count,
  /** Mail up to here is told by it. */
  mailThrough: count,
  /** Turns begun when it was admitted: whether one has begun since. */
  turns: count,
  /** It also tells this incarnation that it was restarted in the middle of a turn; 0: it does not. */
  recovers: later(count, 0),
});
export interface OpenWake extends Of<typeof openWake> {}

/** What it knows of the sessions that it started, and of its mail: it is woken for the rest (wake-record.ts). */
export const wakes = object({
  /** Of every event up to here it has been told, or it asked not to be. */
  acknowledged: added(count, 0),
  /** By session: further than that, because it waited for that one itself. */
  told: added(recordOf(count), {}),
  /** Up to here a wake has told it of its mail, */
  mail: added(count, 0),
  /** and this incarnation of it got the last wake; 0: none did. */
  wokenIncarnation: added(count, 0),
  /** Up to here a wake went out of which nobody knows whether it arrived. */
  doubted: added(count, 0),
  /** This incarnation was told last that it was restarted in the middle of a turn; 0: none was. */
  recovered: added(count, 0),
  open: added(orNull(openWake), null),
});
