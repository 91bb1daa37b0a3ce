/**
 * The one error type: a stable code for programs, a sentence for the person,
 * and what to do next. The code decides the exit status and the HTTP status.
 */
export type ErrorKind =
  | "usage" // the caller asked for something malformed
  | "too-large" // more than is ever taken at once
  | "not-found" // only ever: no such session
  | "no-such-path" // of the HTTP API
  | "wrong-method" // for this path of the HTTP API
  | "conflict" // legal, but not in this state
  | "forbidden"
  | "unavailable" // something Reeve needs is not there right now
  | "config" // the installation or home must be fixed first
  | "internal";

const HTTP_STATUS = {
  usage: 400,
  "too-large": 413,
  "not-found": 404,
  "no-such-path": 404,
  "wrong-method": 405,
  conflict: 409,
  forbidden: 403,
  unavailable: 503,
  config: 503,
  internal: 500,
} as const satisfies Record<ErrorKind, number>;

/** sysexits(3), as the conventions page promises: 2 usage, 69 unavailable, 77 permission, 78 configuration. */
const EXIT_STATUS = {
  usage: 2,
  "too-large": 2,
  "not-found": 1,
  "no-such-path": 2,
  "wrong-method": 2,
  conflict: 1,
  forbidden: 77,
  unavailable: 69,
  config: 78,
  internal: 1,
} as const satisfies Record<ErrorKind, number>;

export interface ErrorFields {
  readonly code: string;
  readonly kind: ErrorKind;
  /** What is wrong and what to do, in one sentence. */
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export class ReeveError extends Error {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(fields: ErrorFields) {
    super(fields.message);
    this.name = "ReeveError";
    this.code = fields.code;
    this.kind = fields.kind;
    this.details = fields.details ?? {};
  }

  get httpStatus(): number {
    return HTTP_STATUS[this.kind];
  }

  get exitStatus(): number {
    return EXIT_STATUS[this.kind];
  }
}

export function isErrorKind(value: unknown): value is ErrorKind {
  return typeof value === "string" && value in HTTP_STATUS;
}

/** What the system said, as one line without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno name (`ENOENT`, …) of a failed system call, if it is one. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
