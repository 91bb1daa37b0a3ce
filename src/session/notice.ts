/**
 * What a person should see of a session at a glance, and whether one has: the
 * end of what its agent said, the last line before its process died, and the
 * revision in which something happened that is worth a look.
 */
import { amend } from "./amend.ts";
import { isMismatchUnseen } from "./checkout.ts";
import type { SessionEvent } from "./event.ts";
import type { Session } from "./session.ts";

/** Something happened, and nobody has looked since. */
export function isUnseen(session: Session): boolean {
  return isEndUnseen(session) || isMismatchUnseen(session);
}

/** A turn or its process ended. */
export function isEndUnseen({ notice }: Pick<Session, "notice">): boolean {
  return notice.newsRevision > notice.seenRevision;
}

/** After a transition from `before`: `next` with what its events mean for a person. */
export function withNews(before: Session, next: Session, events: readonly SessionEvent[]): Session {
  const isNews = events.some((event) => isNewsworthy(before, event));
  return isNews ? amend(next, { notice: { newsRevision: next.revision } }) : next;
}

/** An end of the process that somebody asked for is no news to them. */
function isNewsworthy(before: Session, { type }: SessionEvent): boolean {
  switch (type) {
    case "turn-completed":
    case "turn-failed":
    case "turn-interrupted":
    case "turn-corrected":
    case "session-errored":
      return true;
    case "session-exited":
      return before.wish.stop === null;
    default:
      return false;
  }
}

/** Not written out: see surface/cli/text-ruler.ts, whose bundle holds this file, too. */
const ELLIPSIS = String.fromCodePoint(0x2026);
/** Enough for one line of a wide terminal. */
const LONGEST = 240;
/** A sentence shorter than this says too little alone: "Done." */
const SHORTEST = 16;

/** The last sentence of a text, in one line; null where there is none. */
export function lastSentence(text: string): string | null {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/^\s*(?:[-*#>]+|\d+[.)])\s+/, "").trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !line.startsWith("```"));
  const [last = "", before = ""] = lines.toReversed();
  const sentences = last.split(/(?<=[.!?])\s+(?=[\p{Lu}"'`(])/u);
  const end = sentences.at(-1) ?? "";
  const whole =
    end.length >= SHORTEST ? end : sentences.length > 1 ? sentences.slice(-2).join(" ") : joined(before, end);
  return whole === "" ? null : bounded(whole.replace(/\s+/g, " "));
}

/** The last line that says something, without the boxes that agents draw around it; null where none does. */
export function lastLine(text: string): string | null {
  const line = text.split("\n").findLast((one) => /[\p{L}\p{N}]/u.test(one));
  return line === undefined ? null : bounded(line.replace(/[\s\u2500-\u259f]+/g, " ").trim());
}

/** `Error: bad`, `ValueError: bad`, `fatal: bad`, `panic: bad`. */
const NAMES_AN_ERROR = /^(?:uncaught |unhandled )?(?:[\w.]*(?:error|exception)(?: ?[[(][^\])]*[\])])?|fatal|panic):/i;
/** A stack stands below it. */
const LAST_LINES = 40;

/** Of a process that failed: what it calls an error, if that is among its last lines; what it printed last is often no more than a version. */
export function lastWords(text: string): string | null {
  const lines = text.trimEnd().split("\n").slice(-LAST_LINES);
  const error = lines.findLast((line) => NAMES_AN_ERROR.test(line.replace(/^[\s\u2500-\u259f]+/, "")));
  return lastLine(error ?? text);
}

function joined(before: string, end: string): string {
  const line = `${before} ${end}`.trim();
  return before === "" || line.length > LONGEST ? end : line;
}

function bounded(text: string): string {
  return text.length <= LONGEST ? text : text.slice(0, LONGEST - 1) + ELLIPSIS;
}
