/**
 * An operation is a verb as data: what it takes and gives, what it does to
 * the world, who may call it, and the function that does it. HTTP routes,
 * OpenAPI, the client's types and (later) MCP tools are derived from the table
 * in operations.ts; the CLI is held against it by a test.
 */
import type * as z from "zod/mini";
import type { Clock } from "../platform/clock.ts";
import type { Store } from "../store/contract.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";

/** read: changes nothing. change: reversible. end: takes something away. */
export type EffectClass = "read" | "change" | "end";

/** Who asks. Until sessions have tokens of their own there is only the operator. */
export type Caller = "operator";

export interface OperationContext {
  readonly store: Store;
  readonly supervisor: Supervisor;
  readonly clock: Clock;
  readonly outputsDir: string;
  readonly daemon: DaemonControl;
  /** Fires when the caller went away. */
  readonly signal: AbortSignal;
  /** Present when the caller gave an Idempotency-Key. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null;
}

export interface DaemonControl {
  readonly version: string;
  readonly startedAt: number;
  /** What a person should know about this installation, such as a missing linger setting. */
  warnings(): readonly string[];
  stop(): void;
}

export interface Operation<Input extends z.ZodMiniType = z.ZodMiniType, Output extends z.ZodMiniType = z.ZodMiniType> {
  /** The MCP tool's name and OpenAPI's operationId. */
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST";
  /** `{session}` is filled from the path, the rest from the query (GET) or the JSON body (POST). */
  readonly path: `/v1/${string}`;
  readonly effect: EffectClass;
  readonly callers: readonly Caller[];
  readonly input: Input;
  readonly output: Output;
  run(input: z.output<Input>, context: OperationContext): Promise<z.input<Output>>;
}

/** Keeps the schema types of one operation while checking its shape. */
export function defineOperation<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}
