/**
 * An operation is a verb as data: what it takes and gives, what it does to the
 * world, who may call it and on what, and the function that does it. HTTP
 * routes, OpenAPI, the client's types and MCP tools are derived from the table
 * in operations.ts; a test compares the CLI with it.
 */
import type * as z from "zod/mini";
import type { Clock } from "../platform/clock.ts";
import type { ImageWorkshop } from "../runtime/images.ts";
import type { Caller } from "../session/caller.ts";
import type { Store } from "../store/contract.ts";
import type { Supervisor } from "../supervisor/contract.ts";
import type { Callers, Scope } from "./scope.ts";

/** read: changes nothing. change: reversible. end: takes something away. */
export type EffectClass = "read" | "change" | "end";

export interface OperationContext {
  readonly store: Store;
  readonly supervisor: Supervisor;
  readonly clock: Clock;
  readonly outputsDir: string;
  readonly daemon: DaemonControl;
  /** Where images for sessions in containers are built. */
  readonly images: ImageWorkshop;
  /** Who calls: goes into everything that is recorded of it. */
  readonly caller: Caller;
  /** The sessions this caller may reach; for operations that go through all of them. What is named was checked. */
  readonly scope: Scope;
  /** Fires when the caller went away. */
  readonly signal: AbortSignal;
  /** Of a stream whose reader takes what is new as it happens. */
  readonly direct?: Direct | undefined;
  /** Present when the caller gave an Idempotency-Key. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null;
}

export interface DaemonControl {
  readonly version: string;
  /** Where it serves the API. */
  readonly socketPath: string;
  readonly startedAt: number;
  /** What a person should know about this installation, such as a missing linger setting. */
  warnings(): readonly string[];
  stop(): void;
  /** Ends what the runtimes keep running for all sessions; throws if a session still lives. */
  retireRuntimes(): Promise<void>;
}

export interface Operation<
  Input extends z.ZodMiniObject = z.ZodMiniObject,
  Output extends z.ZodMiniType = z.ZodMiniType,
> extends Verb<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

/** All of an operation but its schemas. */
interface Verb<Input extends z.ZodMiniObject, Output extends z.ZodMiniType> {
  /** The MCP tool's name and OpenAPI's operationId. */
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST";
  /** `{session}` is filled from the path, the rest from the query (GET) or the JSON body (POST). */
  readonly path: `/v1/${string}`;
  /** Where what stands in the path may be left out: the path without it, and its operationId. */
  readonly without?: { readonly path: `/v1/${string}`; readonly name: string };
  readonly effect: EffectClass;
  readonly callers: Callers;
  /** A usual input, as the description of the API shows it. */
  readonly example: z.input<Input>;
  /** The fields of the input that name sessions: on those it is called. */
  readonly names: readonly string[];
  /** Other fields that say on what it is called: told when somebody is refused. */
  readonly about?: readonly string[];
  run(input: z.output<Input>, context: OperationContext): Promise<z.input<Output>>;
  /** What it goes on to tell, for callers who listen. */
  readonly stream?: Stream<Input>;
}

export interface Stream<Input extends z.ZodMiniObject = z.ZodMiniObject> {
  /**
   * The field of the input that says where to begin: whoever lost the connection goes on after the last id it had.
   * Null: it cannot be continued, because what it tells of ends with the connection.
   */
  readonly since: string | null;
  /** Fields of the input that are for one answer only. */
  readonly without: readonly string[];
  /** Of each item's data. */
  readonly item: z.ZodMiniType;
  /** Page by page, read when the one before was taken; ends when the context's signal fires. */
  open(input: z.output<Input>, context: OperationContext): AsyncIterable<readonly StreamItem[]>;
}

/**
 * Sends what comes after all that was yielded, at once; false: the reader has not taken what was sent before, so it was not
 * sent and is the beginning of the next page.
 */
export type Direct = (items: readonly StreamItem[]) => boolean;

export interface StreamItem {
  readonly id: number;
  readonly type: string;
  readonly data: unknown;
}

/** As it is written down. A schema is a thousand objects or more, so each is made when it is asked for first. */
interface Definition<Input extends z.ZodMiniObject, Output extends z.ZodMiniType> extends Verb<Input, Output> {
  input(): Input;
  output(): Output;
}

export function defineOperation<Input extends z.ZodMiniObject, Output extends z.ZodMiniType>(
  definition: Definition<Input, Output>,
): Operation<Input, Output> {
  let input: Input | undefined;
  let output: Output | undefined;
  return {
    ...definition,
    get input() {
      return (input ??= definition.input());
    },
    get output() {
      return (output ??= definition.output());
    },
  };
}
