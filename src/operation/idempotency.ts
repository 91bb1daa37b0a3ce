/**
 * Makes a change once, even if it is requested twice with the same
 * Idempotency-Key. The key is committed in the same transaction as the change,
 * so a crash cannot separate them. A repeated request is answered with the
 * present state.
 */
import { createHash } from "node:crypto";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Caller } from "../session/caller.ts";
import { callerName } from "../session/caller.ts";
import type { IdempotencyRecord } from "../store/contract.ts";
import type { Operation, OperationContext } from "./contract.ts";

export type RecordFor = (subject: string) => IdempotencyRecord | undefined;

/**
 * Runs `change`, which returns the id of its subject, unless the key was seen:
 * then that subject, of which `onRepeat` is told. Two calls with one key may be
 * under way at once (a caller who lost its connection asks again): the commit
 * takes one of them, and the other is its repeat.
 */
export async function idempotent(
  context: OperationContext,
  operation: string,
  change: (record: RecordFor) => Promise<string>,
  onRepeat: (subject: string) => void = () => undefined,
): Promise<string> {
  const { idempotency, store, clock } = context;
  if (idempotency === null) return await change(() => undefined);
  const repeat = (): string | null => {
    const seen = store.idempotency(idempotency.key);
    if (seen === undefined) return null;
    if (seen.operation !== operation || seen.fingerprint !== idempotency.fingerprint)
      throw keyConflict(idempotency.key);
    onRepeat(seen.subject);
    return seen.subject;
  };
  const known = repeat();
  if (known !== null) return known;
  try {
    return await change((subject) => ({ ...idempotency, operation, subject, at: clock.now() }));
  } catch (error) {
    const first = repeat();
    if (first !== null) return first;
    throw error;
  }
}

function keyConflict(key: string): ReeveError {
  return new ReeveError({
    code: "idempotency-conflict",
    kind: "conflict",
    message: `The Idempotency-Key ${key} was used for another request; use a new key for each request.`,
  });
}

/** A key that names this change once and for all, with a print of the request it came with. */
export function idempotencyOf(
  operation: Operation,
  input: unknown,
  caller: Caller,
  key: string | undefined,
): OperationContext["idempotency"] {
  if (key === undefined || operation.effect === "read") return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new ReeveError({
      code: "bad-request",
      kind: "usage",
      message: "An Idempotency-Key is 1 to 255 visible ASCII characters.",
    });
  }
  return {
    key: `${keySpace(caller)}:${key}`,
    fingerprint: createHash("sha256")
      .update(operation.name)
      .update(JSON.stringify(asked(input)))
      .digest("hex"),
  };
}

/** Each caller has keys of its own. The operator's are called as they always were: a repeat may come after an upgrade. */
function keySpace(caller: Caller): string {
  return caller.kind === "operator" ? "http" : callerName(caller);
}

/** How long somebody waits, and in which shell, is not part of what is asked: a repeat may differ in it. */
function asked(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  const { environment: _environment, timeout_seconds: _timeout, ...rest } = input as Readonly<Record<string, unknown>>;
  return rest;
}
