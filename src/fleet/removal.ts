/**
 * A session that is being removed, from the decision until nothing of it is
 * left. The record is committed first, so a daemon that was killed in between
 * leaves either the session as it was, or a record by which the next one goes on.
 */
import { defineKind } from "../session/record-kind.ts";
import { flag, object, type Of, positive, text } from "../session/shape.ts";

const removalShape = object({
  /** Of the session. */
  id: text,
  revision: positive,
  /** Its directory, as its record named it. */
  directory: text,
  /** Its record, its messages and its directory are gone; what was moved away may be left. */
  isGone: flag,
});

export type Removal = Of<typeof removalShape>;

export const removalKind = defineKind<Removal>({
  name: "removal",
  parse(value) {
    if (!removalShape.is(value)) throw new Error("it does not describe the removal of a session");
    return value;
  },
});
