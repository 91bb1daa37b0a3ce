/**
 * The kinds of failure, and what Reeve does about each of them. An agent's
 * adapter maps what the agent reports to a kind and keeps the original text;
 * what happens to a process gets its kind here. Everything that reacts to a
 * failure (restart policy, quota breaker, inbox) asks this table.
 */
import { oneOf, type Of } from "./shape.ts";

/** Whose failure it is: of the process, of one turn, or of what surrounds the session. */
type Scope = "process" | "turn" | "surroundings";

/**
 * restart: the session's restart policy decides. reset: it waits until the
 * limit resets, with everything else that draws on it. no: a person must act.
 */
type Retry = "restart" | "reset" | "no";

/** at-once: the operator hears of it when it happens. given-up: only when the retries did not help. */
type Tells = "at-once" | "given-up";

export interface Treatment {
  readonly scope: Scope;
  readonly retry: Retry;
  readonly tells: Tells;
  /** What happened, for people: "Its process crashed." */
  readonly text: string;
  /** What a person can do about it, in a sentence. */
  readonly suggestion: string;
}

const LOOK = "Look at its data, then restart it.";

export const FAILURES = {
  crash: {
    scope: "process",
    retry: "restart",
    tells: "given-up",
    text: "Its process ended with an error.",
    suggestion: LOOK,
  },
  killed: {
    scope: "process",
    retry: "restart",
    tells: "given-up",
    text: "Its process was killed by a signal.",
    suggestion: LOOK,
  },
  vanished: {
    scope: "process",
    retry: "restart",
    tells: "given-up",
    text: "Its process is gone, and nobody saw how it ended.",
    suggestion: LOOK,
  },
  "out-of-memory": {
    scope: "process",
    retry: "restart",
    tells: "given-up",
    text: "It ran out of memory.",
    suggestion: "Give it more memory or less to do, then restart it.",
  },
  "start-failed": {
    scope: "process",
    retry: "no",
    tells: "at-once",
    text: "It could not be started.",
    suggestion: "Fix what its reason names, then restart it.",
  },
  "not-logged-in": {
    scope: "turn",
    retry: "no",
    tells: "at-once",
    text: "Its agent is not logged in.",
    suggestion: "Log in as the agent says, then send the message again.",
  },
  "rate-limit": {
    scope: "turn",
    retry: "reset",
    tells: "given-up",
    text: "The vendor answers no more requests for the moment (rate limit).",
    suggestion: "Nothing to do: Reeve goes on when the limit resets.",
  },
  "quota-exhausted": {
    scope: "turn",
    retry: "reset",
    tells: "at-once",
    text: "The quota of this account is used up.",
    suggestion: "Wait for the reset, or let it use another account.",
  },
  billing: {
    scope: "turn",
    retry: "no",
    tells: "at-once",
    text: "The vendor wants payment: no credit is left, or the plan does not include this.",
    suggestion: "Settle it with the vendor, then send the message again.",
  },
  "model-error": {
    scope: "turn",
    retry: "no",
    tells: "at-once",
    text: "The model's service answered with an error.",
    suggestion: "Send the message again later.",
  },
  "context-full": {
    scope: "turn",
    retry: "no",
    tells: "at-once",
    text: "The conversation is too long for the model.",
    suggestion: "Compact the conversation, or start a new session.",
  },
  network: {
    scope: "turn",
    retry: "no",
    tells: "at-once",
    text: "The model's service could not be reached.",
    suggestion: "Check the network, then send the message again.",
  },
  hung: {
    scope: "surroundings",
    retry: "no",
    tells: "at-once",
    text: "Its process does not run although it should.",
    suggestion: "Look at its screen; if it does not come back, restart it.",
  },
  stalled: {
    scope: "surroundings",
    retry: "no",
    tells: "at-once",
    text: "Nothing was heard from its turn for a while.",
    suggestion: "Look at its screen, then interrupt it or wait on.",
  },
  "branch-mismatch": {
    scope: "surroundings",
    retry: "no",
    tells: "at-once",
    text: "Its checkout is on another branch than the session declared.",
    suggestion: "Check out the declared branch again, or end the session and start one for the other branch.",
  },
  disk: {
    scope: "surroundings",
    retry: "no",
    tells: "at-once",
    text: "The disk is full, or nearly.",
    suggestion: "Make room on the disk.",
  },
  unknown: {
    scope: "turn",
    retry: "no",
    tells: "at-once",
    text: "Its turn failed for a reason that Reeve does not know.",
    suggestion: "Read what the agent said, then send the message again.",
  },
} as const satisfies Record<string, Treatment>;

export type FailureKind = keyof typeof FAILURES;

export const FAILURE_KINDS = Object.keys(FAILURES) as readonly FailureKind[];

export const failureKind = oneOf(...FAILURE_KINDS);
export interface KnownFailure {
  readonly kind: Of<typeof failureKind>;
  /** In the words of whoever reported it. */
  readonly text: string;
}

export function treatmentOf(kind: FailureKind): Treatment {
  return FAILURES[kind];
}

/** What programs print when they get no more memory: V8 (Node, and so Gemini CLI), Bun, Rust, Go, glibc. */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|^(?:fatal error|panic): (?:runtime: )?out of memory|^memory allocation of \d{1,20} bytes failed|^(?:RangeError|error): Out of memory|std::bad_alloc/m;

/** Lines at the end of its terminal that a dying program may have printed. */
const LAST_LINES = 40;

/** Of what its terminal showed at the end; null where that says nothing of it. */
export function failureOfLastWords(text: string): FailureKind | null {
  const lines = text.trimEnd().split("\n").slice(-LAST_LINES);
  return OUT_OF_MEMORY.test(lines.join("\n")) ? "out-of-memory" : null;
}

/** Of a process that ended by itself, and not with status 0. */
export function failureOfExit(exit: { readonly code: number | null; readonly signal: string | null }): FailureKind {
  if (exit.signal !== null) return "killed";
  return exit.code === null ? "vanished" : "crash";
}
