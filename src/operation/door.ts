/**
 * The only way to run an operation. Every surface calls it, and says who the
 * caller is after it has proven that. The door checks the input against the
 * operation's schema, and whether this caller may call this operation on the
 * sessions that the input names. It must never take the caller, or anything
 * about it, from the input.
 */
import type * as z from "zod/mini";
import type { Log } from "../platform/log.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Caller } from "../session/caller.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Registry, Store } from "../store/contract.ts";
import { checkInput } from "./check-input.ts";
import { checkOutput } from "./check-output.ts";
import type { Direct, Operation, OperationContext, Stream, StreamItem } from "./contract.ts";
import { idempotencyOf } from "./idempotency.ts";
import type { Scope } from "./scope.ts";
import { REACH_WORDS, scopeOf } from "./scope.ts";
import { resolveAmong } from "./session-reference.ts";

/** What the operations work with, whoever calls. */
export type DoorParts = Omit<OperationContext, "caller" | "scope" | "signal" | "idempotency">;

export interface Call {
  /** Fires when the caller went away. */
  readonly signal: AbortSignal;
  /** Names a change: asked for again by the same caller with the same key, it is made once. */
  readonly idempotencyKey?: string | undefined;
  /** The answer is checked against the operation's schema, for callers that cannot do it themselves. */
  readonly isChecked?: boolean;
  readonly direct?: Direct | undefined;
}

/** All that is recorded of an operation when a call is refused. */
type Named = Pick<Operation, "name" | "names" | "about">;

export interface Door {
  /** Records that somebody was refused, also where a surface did it: it could not be proven who called. */
  refuse(operation: Named, raw: unknown, caller: Caller | null, error: ReeveError): void;
  invoke<Output extends z.ZodMiniType>(
    operation: Operation<z.ZodMiniObject, Output>,
    input: unknown,
    caller: Caller,
    call: Call,
  ): Promise<z.input<Output>>;
  /** Page after page of what the operation streams, until the signal fires; throws at once what is wrong with the call. */
  stream(operation: Operation, input: unknown, caller: Caller, call: Call): AsyncIterable<readonly StreamItem[]>;
}

export function createDoor({ log, ...parts }: DoorParts & { readonly log: Log }): Door {
  const { registry } = parts.store;

  function admit(operation: Operation, raw: unknown, caller: Caller, call: Call) {
    const checked = checkInput(operation, raw);
    const scope = scopeOf(registry, caller, operation.callers);
    const input = caller.kind === "session" ? allowed(registry, operation, checked, caller.id, scope) : checked;
    const idempotency = idempotencyOf(operation, input, caller, call.idempotencyKey);
    const { signal, direct } = call;
    return { input, context: { ...parts, caller, scope, signal, direct, idempotency } };
  }

  /** Also what an operation itself refuses is recorded, such as one start too many. */
  function recording(operation: Operation, raw: unknown, caller: Caller, error: unknown): unknown {
    if (error instanceof ReeveError && error.kind === "forbidden") refuse(operation, raw, caller, error);
    return error;
  }

  function refuse(operation: Named, raw: unknown, caller: Caller | null, { code, message }: ReeveError): void {
    const target = namedIn(operation, raw);
    parts.supervisor.noteRefusal(caller, { operation: operation.name, target, code, why: message });
  }

  return {
    refuse,

    async invoke(operation, raw, caller, call) {
      try {
        const { input, context } = admit(operation, raw, caller, call);
        const answer = await operation.run(input, context);
        if (call.isChecked === true) checkOutput(operation, answer, log);
        return answer;
      } catch (error) {
        throw recording(operation, raw, caller, error);
      }
    },

    stream(operation, raw, caller, call) {
      if (operation.stream === undefined)
        throw new ReeveError({
          code: "not-a-stream",
          kind: "usage",
          message: `${operation.name} gives one answer and no stream; ask for application/json.`,
        });
      try {
        const { input, context } = admit(operation, raw, caller, call);
        requireStreamed(operation.stream, raw as object);
        if (caller.kind !== "session") return operation.stream.open(input, context);
        const life = lifeOf(parts.store, caller.id);
        const signal = AbortSignal.any([call.signal, life.signal]);
        try {
          return closing(operation.stream.open(input, { ...context, signal }), life.close);
        } catch (error) {
          life.close();
          throw error;
        }
      } catch (error) {
        throw recording(operation, raw, caller, error);
      }
    },
  };
}

/** `signal` fires when the session has ended or was started again: whoever listens may do so no longer than it may call. */
function lifeOf({ registry, log }: Store, sessionId: string): { readonly signal: AbortSignal; close(): void } {
  const over = new AbortController();
  const incarnation = registry.get(sessionId)?.process.incarnation;
  const close = log.follow((events) => {
    if (!events.some((event) => event.sessionId === sessionId)) return;
    const session = registry.get(sessionId);
    if (session === undefined || isEnded(session) || session.process.incarnation !== incarnation) over.abort();
  }, "first");
  return { signal: over.signal, close };
}

async function* closing<T>(pages: AsyncIterable<T>, close: () => void): AsyncGenerator<T, void, void> {
  try {
    yield* pages;
  } finally {
    close();
  }
}

/** The sessions that a call names, as they were written; bounded, because anybody may write anything. */
function namedIn({ names, about = [] }: Named, raw: unknown): string | null {
  const fields = new Set([...names, ...about]);
  const given = typeof raw === "object" && raw !== null ? Object.entries(raw) : [];
  const texts = given.flatMap(([field, value]) => (fields.has(field) ? [value].flat() : []));
  const named = texts.filter((value) => typeof value === "string").join(", ");
  return named === "" ? null : named.slice(0, 200);
}

function requireStreamed({ without }: Stream, raw: object): void {
  const field = without.find((name) => name in raw);
  if (field === undefined) return;
  throw new ReeveError({
    code: "unknown-field",
    kind: "usage",
    message: `A stream takes no ${field}; leave it out, or ask for application/json.`,
    details: { field },
  });
}

/** The input as this session may give it: each session it names is one in its reach, by id. */
function allowed(
  registry: Registry,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  callerId: string,
  scope: Scope,
): Readonly<Record<string, unknown>> {
  const session = registry.get(callerId);
  if (session === undefined)
    throw refused("unknown-caller", `There is no session ${callerId}, so it may not call ${operation.name}.`);
  if (isEnded(session))
    throw refused("caller-ended", `Session ${session.identity.name} has ended, so it may not call ${operation.name}.`);
  if (operation.callers.session === "none")
    throw refused(
      "not-allowed",
      `Session ${session.identity.name} may not call ${operation.name}: ${REACH_WORDS.none}.`,
    );
  const resolve = (reference: string): string => resolveWithin(registry, operation, session, reference, scope).id;
  const named = (field: string, value: unknown): unknown =>
    operation.names.includes(field) ? eachText(value, resolve) : value;
  return Object.fromEntries(Object.entries(input).map(([field, value]) => [field, named(field, value)]));
}

function resolveWithin(
  registry: Registry,
  operation: Operation,
  caller: Session,
  reference: string,
  scope: Scope,
): Session {
  const session = resolveAmong(registry, reference, scope.has);
  if (session !== null) return session;
  const rule = REACH_WORDS[operation.callers.session];
  throw refused(
    "not-allowed",
    `Session ${caller.identity.name} may not call ${operation.name} on ${reference}: ${rule}.`,
  );
}

function eachText(value: unknown, change: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => eachText(one, change));
  return typeof value === "string" ? change(value) : value;
}

function refused(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "forbidden", message });
}
