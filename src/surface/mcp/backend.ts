/**
 * How the MCP server reaches the operations: through the client from a process
 * of its own (`reeve mcp`), or through the door inside the daemon (`/mcp`).
 */
import type { EventView, Verb } from "../../client/operation-types.ts";
import type { UnreadMailCount } from "../../client/request.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly value: Fields;
  /** The same as JSON. */
  readonly text: string;
}

export interface Backend {
  /** It is a session that calls. It sees only the tools that sessions may use; the door decides all the same. */
  readonly isSession: boolean;
  /** Throws a ReeveError. */
  call(verb: Verb, input: Fields, signal: AbortSignal): Promise<Answer>;
  /** As the last answer said; null where no session calls. */
  unreadMail(): UnreadMailCount | null;
  /** What a model leaves out and its surroundings tell: the directory, the environment. */
  surroundings(): Promise<{ readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> }>;
  /** What happened after that event and happens from now on, until the signal fires. */
  follow(since: number, signal: AbortSignal): AsyncIterable<Pick<EventView, "seq" | "session_id" | "wake">>;
  /** Tells whoever runs Reeve what went wrong inside. */
  note(what: string, error: unknown): void;
}
