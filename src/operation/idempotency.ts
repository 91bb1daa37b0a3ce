/**
 * A change asked for twice with the same Idempotency-Key is made once. The
 * key is committed in the same transaction as the change, so that a crash
 * cannot come between them; a repeat is answered with what the subject is now.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { IdempotencyRecord } from "../store/contract.ts";
import type { OperationContext } from "./contract.ts";

export type RecordFor = (subject: string) => IdempotencyRecord | undefined;

/** Runs `change`, which returns the id of its subject, unless the key was seen: then that subject. */
export async function idempotent(
  context: OperationContext,
  operation: string,
  change: (record: RecordFor) => Promise<string>,
): Promise<string> {
  const { idempotency, store, clock } = context;
  if (idempotency === null) return await change(() => undefined);
  const seen = store.idempotency(idempotency.key);
  if (seen === undefined) return await change((subject) => ({ ...idempotency, operation, subject, at: clock.now() }));
  if (seen.operation === operation && seen.fingerprint === idempotency.fingerprint) return seen.subject;
  throw new ReeveError({
    code: "idempotency-conflict",
    kind: "conflict",
    message: `The Idempotency-Key ${idempotency.key} was used for another request; use a new key for each request.`,
  });
}
