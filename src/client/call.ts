/**
 * Calls one operation and hides the death of the daemon in between. A change
 * carries a key, so that the daemon recognises a repeated request and makes the
 * change once; a request that only reads is simply repeated.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import { enduring } from "./endurance.ts";
import type { InputOf, OutputOf, Verb } from "./operation-types.ts";
import { problemFrom } from "./problem.ts";
import { type Link, reach, type Request, type Revival } from "./request.ts";
import { aim, ROUTES } from "./routes.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * Names this change: asked for again with the same key, by whomever, it is
   * made once. Without one each call makes its own. An error after which it is
   * not known whether the change was made tells it as `details.idempotency_key`.
   */
  readonly idempotencyKey?: string;
}

export interface CallRules extends CallOptions {
  /** Whoever calls asks again itself. */
  readonly isOnce?: boolean;
  /** A daemon that does not answer is waited for. */
  readonly outlastsSilence?: boolean;
  /** How long an answer may take; otherwise that follows from what is asked. */
  readonly patienceMs?: number;
  readonly revival?: Revival;
}

/** A busy machine may take seconds; the daemon itself answers in milliseconds. */
const PATIENCE_MS = 30_000;
/** More than the daemon's default grace, for calls that name none. */
const DEFAULT_GRACE_SECONDS = 60;

export async function call<V extends Verb>(
  link: Link,
  verb: V,
  input: InputOf<V>,
  rules: CallRules = {},
): Promise<OutputOf<V>> {
  // The daemon made it by the operation's own output schema.
  return (await callFor(link, verb, input, rules, parseAnswer)) as OutputOf<V>;
}

/** The answer as the daemon wrote it: JSON, for those who only pass it on. */
export function callForBytes<V extends Verb>(
  link: Link,
  verb: V,
  input: InputOf<V>,
  rules: CallRules = {},
): Promise<Buffer> {
  return callFor(link, verb, input, rules, (bytes) => bytes);
}

async function callFor<V extends Verb, T>(
  link: Link,
  verb: V,
  input: InputOf<V>,
  rules: CallRules,
  read: (bytes: Buffer) => T,
): Promise<T> {
  const target = aim(ROUTES[verb], input);
  const key = target.method === "POST" ? (rules.idempotencyKey ?? link.idempotencyKey ?? crypto.randomUUID()) : null;
  const request: Request = {
    ...target,
    headers: {
      accept: "application/json",
      ...(key === null ? {} : { "idempotency-key": keyFor(key, input) }),
    },
    patienceMs: rules.patienceMs ?? patience(input),
    ...(rules.outlastsSilence === true ? { outlastsSilence: true } : {}),
    ...(rules.signal === undefined ? {} : { signal: rules.signal }),
  };
  // What the daemon itself refuses was not done.
  let refusal: ReeveError | undefined;
  const attempt = async (): Promise<T> => {
    const { status, bytes } = await ask(link, request, rules.revival);
    if (status === 200) return read(bytes);
    refusal = problemFrom(status, bytes.toString("utf8"));
    throw refusal;
  };
  try {
    return await (rules.isOnce === true ? attempt() : enduring(link, attempt, rules.signal));
  } catch (error) {
    throw key === null || error === refusal ? error : withKey(error, key);
  }
}

/** One command may name several sessions, or several mails: of each the change is another. */
function keyFor(key: string, { session, mail }: Readonly<Record<string, unknown>>): string {
  const named = session ?? mail;
  return typeof named === "string" ? `${key}:${named}` : key;
}

/** Nobody answered, so whether it was done is not known; with its key it can be asked for again. */
function withKey(error: unknown, key: string): unknown {
  if (!(error instanceof ReeveError) || error.kind !== "unavailable") return error;
  const { code, kind, message, details } = error;
  return new ReeveError({ code, kind, message, details: { ...details, idempotency_key: key } });
}

interface Answered {
  readonly status: number;
  readonly bytes: Buffer;
}

async function ask(link: Link, request: Request, revival: Revival | undefined): Promise<Answered> {
  let status = 0;
  let chunks: Buffer[] = [];
  const listener = {
    head: (head: { readonly status: number }): void => {
      status = head.status;
      chunks = [];
    },
    body: (bytes: Buffer): void => void chunks.push(bytes),
  };
  await reach(link, request, listener, revival);
  return { status, bytes: Buffer.concat(chunks) };
}

function parseAnswer(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw problemFrom(200, text);
  }
}

/** Silence is judged only after what the caller itself asked to wait for. */
function patience(input: Readonly<Record<string, unknown>>): number {
  const seconds = (name: string, otherwise: number): number =>
    typeof input[name] === "number" ? input[name] : otherwise;
  return PATIENCE_MS + (seconds("timeout_seconds", 0) + seconds("grace_seconds", DEFAULT_GRACE_SECONDS)) * 1_000;
}
