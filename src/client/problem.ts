/**
 * The errors of a call. A refusal (application/problem+json) becomes the same
 * ReeveError that the daemon threw. There is one error for a daemon that was
 * never reached, one for a lost connection and one for a daemon that does not
 * answer, because each is fixed differently.
 */
import { fieldsOf, parseFields } from "../platform/json-fields.ts";
import { isErrorKind, ReeveError } from "../platform/reeve-error.ts";

export function problemFrom(status: number, text: string): ReeveError {
  const { code, kind, detail, details } = fieldsOf(parseFields(text));
  if (typeof code === "string" && isErrorKind(kind) && typeof detail === "string") {
    return new ReeveError({ code, kind, message: detail, details: fieldsOf(details) });
  }
  return new ReeveError({
    code: "unexpected-answer",
    kind: "internal",
    message: `The daemon answered with status ${status} and no explanation; it may be of another version: see reeve daemon status.`,
  });
}

/** Nobody listens there: nothing was asked yet. */
export function isUnreached(error: unknown): boolean {
  return error instanceof ReeveError && error.code === "daemon-not-running";
}

/** A daemon that is stopped removes its socket; one that died leaves it behind. */
export function isCrashed(error: unknown): boolean {
  return error instanceof ReeveError && error.code === "daemon-not-running" && error.details["socket"] === "dead";
}

/** It was asked, and whether it did what it was asked is not known. */
export function isLost(error: unknown): boolean {
  return error instanceof ReeveError && error.code === "daemon-lost";
}

export function notRunning(socket: "missing" | "dead"): ReeveError {
  return new ReeveError({
    code: "daemon-not-running",
    kind: "unavailable",
    message: "The daemon is not running; start it with reeve daemon start.",
    details: { socket },
  });
}

const PASSING_ERRNOS = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOTCONN",
  "ESHUTDOWN",
  "ETIMEDOUT",
  "EINTR",
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
]);

export function unreachable(error: NodeJS.ErrnoException): ReeveError {
  if (error.code === "ENOENT") return notRunning("missing");
  if (error.code === "ECONNREFUSED") return notRunning("dead");
  // Its queue of connections is full: it lives, and will take this one in a moment.
  if (error.code === "EAGAIN")
    return new ReeveError({
      code: "daemon-crowded",
      kind: "unavailable",
      message: "The daemon has too many callers at once; try again.",
    });
  // It died between taking the connection and saying so, or this process is short of something for a moment.
  if (PASSING_ERRNOS.has(error.code ?? "")) return lost(error);
  if (error.code === "EACCES" || error.code === "EPERM")
    return new ReeveError({
      code: "socket-forbidden",
      kind: "forbidden",
      message: `You may not open the daemon's socket (${error.message}); check who owns it.`,
    });
  return new ReeveError({
    code: "daemon-unreachable",
    kind: "unavailable",
    message: `The daemon cannot be reached (${error.message}); see reeve daemon status.`,
  });
}

export function lost(why: unknown): ReeveError {
  const said = why instanceof Error ? why.message : String(why);
  return new ReeveError({
    code: "daemon-lost",
    kind: "unavailable",
    message: `The daemon ended before it answered (${said}); try again.`,
  });
}

export function silent(patienceMs: number): ReeveError {
  return new ReeveError({
    code: "daemon-silent",
    kind: "unavailable",
    message: `The daemon took the request but did not answer for ${Math.round(patienceMs / 1_000)} s; see reeve daemon logs.`,
  });
}

export function aborted(): ReeveError {
  return new ReeveError({ code: "aborted", kind: "unavailable", message: "The request was given up by its caller." });
}
