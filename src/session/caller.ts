/**
 * Who asks. A surface makes a caller from what it can prove (the socket's peer,
 * later a session's token), never from what a request says. It is recorded with
 * everything that was asked for: as text, which is what `CallerName` is.
 */
export type CallerName = "operator" | "system" | `session:${string}`;
