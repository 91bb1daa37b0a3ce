/**
 * One verb called, so that the daemon's death in between does not show: a
 * change carries a key by which the daemon knows it again, so it is asked for
 * twice and made once; what only reads is simply asked again.
 */
import { systemClock } from "../platform/clock.ts";
import type { InputOf, OutputOf, Verb } from "./operation-types.ts";
import { problemFrom } from "./problem.ts";
import { isLost } from "./request.ts";
import type { Request } from "./request.ts";
import { reach } from "./link.ts";
import type { Link, Revival } from "./link.ts";
import { aim, ROUTES } from "./routes.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CallRules extends CallOptions {
  readonly tries?: number;
  readonly revival?: Revival;
}

const TRIES = 4;
/** A killed daemon's socket still takes connections until the kernel has taken it down. */
const BETWEEN_TRIES_MS = 30;
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
  const target = aim(ROUTES[verb], input);
  const request: Request = {
    ...target,
    headers:
      target.method === "POST"
        ? { accept: "application/json", "idempotency-key": crypto.randomUUID() }
        : { accept: "application/json" },
    patienceMs: patience(input),
    ...(rules.signal === undefined ? {} : { signal: rules.signal }),
  };
  const tries = rules.tries ?? TRIES;
  for (let attempt = 1; ; attempt++) {
    try {
      // The daemon made it by the operation's own output schema.
      return (await askJson(link, request, rules.revival)) as OutputOf<V>;
    } catch (error) {
      if (!isLost(error) || attempt >= tries) throw error;
      await systemClock.sleep(BETWEEN_TRIES_MS * attempt, rules.signal);
    }
  }
}

async function askJson(link: Link, request: Request, revival: Revival | undefined): Promise<unknown> {
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
  const text = Buffer.concat(chunks).toString("utf8");
  if (status !== 200) throw problemFrom(status, text);
  try {
    return JSON.parse(text);
  } catch {
    throw problemFrom(status, text);
  }
}

/** Silence is judged only after what the caller itself asked to wait for. */
function patience(input: Readonly<Record<string, unknown>>): number {
  const seconds = (name: string, otherwise: number): number =>
    typeof input[name] === "number" ? input[name] : otherwise;
  return PATIENCE_MS + (seconds("timeout_seconds", 0) + seconds("grace_seconds", DEFAULT_GRACE_SECONDS)) * 1_000;
}
