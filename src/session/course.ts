/** Sums up what the log says of one session after some event, as far as a waiter must know it. */
import type { Ask } from "./ask.ts";
import { askOf } from "./ask.ts";
import type { LoggedEvent } from "./event.ts";
import { isTurnEnd } from "./event.ts";
import type { WakeReason } from "./wake.ts";
import { wakeReasonOf } from "./wake.ts";

export interface Wake {
  readonly reason: WakeReason;
  readonly seq: number;
}

export interface Course {
  /** Up to where the log was read. */
  seq: number;
  /** In order. */
  readonly wakes: Wake[];
  readonly turnEnds: (Wake & { readonly turn: number })[];
  readonly turnStarts: { readonly turn: number; readonly seq: number }[];
  /** Which turn took which message. */
  readonly turnOf: Map<string, number>;
  newestAsk: Ask | null;
  /** The first of the asks after which nothing else was told; null: something else was told last. */
  lastAsksFrom: number | null;
}

export function emptyCourse(seq: number): Course {
  return { seq, wakes: [], turnEnds: [], turnStarts: [], turnOf: new Map(), newestAsk: null, lastAsksFrom: null };
}

export function follow(course: Course, event: LoggedEvent): void {
  const { seq, body } = event;
  course.seq = seq;
  const ask = askOf(event);
  course.newestAsk = ask ?? course.newestAsk;
  course.lastAsksFrom = ask === null ? null : (course.lastAsksFrom ?? seq);
  if (body.type === "turn-started") course.turnStarts.push({ turn: body.turn, seq });
  if (body.type === "message-delivered" && body.turn !== undefined) course.turnOf.set(body.messageId, body.turn);
  const reason = wakeReasonOf(event);
  if (reason === null) return;
  if (body.type === "turn-corrected") correct(course, { reason, seq, turn: body.turn });
  if (isTurnEnd(body)) course.turnEnds.push({ reason, seq, turn: body.turn });
  course.wakes.push({ reason, seq });
}

/** What had only been inferred of that turn wakes nobody any more; its place among the turns stays. */
function correct(course: Course, end: Course["turnEnds"][number]): void {
  const told = course.turnEnds.findIndex(({ turn }) => turn === end.turn);
  if (told === -1) {
    const later = course.turnEnds.findIndex(({ turn }) => turn > end.turn);
    course.turnEnds.splice(later === -1 ? course.turnEnds.length : later, 0, end);
    return;
  }
  const [was] = course.turnEnds.splice(told, 1, end);
  const wake = course.wakes.findIndex(({ seq }) => seq === was?.seq);
  if (wake !== -1) course.wakes.splice(wake, 1);
}
