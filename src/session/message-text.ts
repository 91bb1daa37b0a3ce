/**
 * Checks whether a text can be typed into a terminal byte for byte: it must be
 * of bounded size, without control characters other than line feed and tab,
 * because a terminal would act on them. A text is delivered exactly or refused,
 * never changed.
 */
import { ReeveError } from "../platform/reeve-error.ts";

const MAX_MESSAGE_BYTES = 1_048_576;

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

export function requireTypeable(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new ReeveError({
      code: "message-too-long",
      kind: "usage",
      message: `The message has ${bytes} bytes, and at most ${MAX_MESSAGE_BYTES} are allowed; put it into a file and send its path.`,
    });
  }
  const control = CONTROL.exec(text);
  if (control === null && text.isWellFormed()) return;
  const what =
    control === null
      ? "a character that is not valid Unicode"
      : `the control character U+${control[0].charCodeAt(0).toString(16).padStart(4, "0")} at position ${control.index}, which a terminal would act on`;
  throw new ReeveError({
    code: "message-not-text",
    kind: "usage",
    message: `The message contains ${what}; remove it (line feed and tab are fine).`,
  });
}
