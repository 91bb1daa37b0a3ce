/**
 * The form of ids and names of sessions. In a file of its own, because the
 * command line needs nothing else of a session.
 */
export const SESSION_ID_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Who else is told as a caller or a recipient: a session of that name would read as if it were them. */
const RESERVED_NAMES: readonly string[] = ["operator", "reeve", "system"];

export function isFreeName(name: string): boolean {
  return !RESERVED_NAMES.includes(name);
}

/** Completes "it must be …". */
export const FREE_NAME = "another name, because operator, reeve and system stand for somebody else";
