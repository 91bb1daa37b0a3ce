/**
 * A change asked for twice with the same Idempotency-Key is made once. The
 * key is committed in the same transaction as the change, so that a crash
 * cannot come between them; a repeat is answered with what the subject is now.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { IdempotencyRecord } from "../store/contract.ts";
import type { OperationContext } from "./contract.ts";

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
