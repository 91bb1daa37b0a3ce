/** An error as a model, or a client, reads it: the same sentence and code as everywhere, and what to do next. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { ErrorKind } from "../../platform/reeve-error.ts";
import { ReeveError } from "../../platform/reeve-error.ts";

export interface ToolProblem {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

const NEXT_BY_KIND = {
  usage: "Nothing was changed. Correct the arguments and call again.",
  "too-large": "Nothing was changed. Put the text into a file and name the file instead.",
  "not-found": "Nothing was changed. Call list_sessions with all: true to see the sessions there are.",
  "no-such-path": "This server is of another version than the daemon. Ask the user to restart this MCP server.",
  "wrong-method": "This server is of another version than the daemon. Ask the user to restart this MCP server.",
  conflict: "Nothing was changed. Look at the session with get_session, then decide.",
  forbidden: "Nothing was changed. Do not try again: tell the user, or act on a session that you started.",
  unavailable:
    "Call again in a few seconds. Sessions go on meanwhile: this says nothing about whether they live. Before you repeat a start or a message, look with list_sessions or list_messages whether it was done.",
  config: "Tell the user; diagnose shows what is wrong.",
  internal: "Tell the user. Look with list_sessions where things stand before you repeat anything.",
} as const satisfies Record<ErrorKind, string>;

const NEXT_BY_CODE: Readonly<Record<string, string>> = {
  "session-ended": "Nothing was changed. Read what it said with get_session_data; start another, or restart_session.",
  "future-cursor": "Nothing was changed. Call again with the cursor of an earlier answer, or without `since`.",
};

export function problemOf(error: unknown): ToolProblem {
  const known = error instanceof ReeveError ? error : INTERNAL;
  const { code, kind, message, details } = known;
  const next = NEXT_BY_CODE[code] ?? NEXT_BY_KIND[kind];
  return { code, message, next, ...(Object.keys(details).length === 0 ? {} : { details }) };
}

const INTERNAL = new ReeveError({
  code: "internal",
  kind: "internal",
  message: "Something went wrong inside Reeve; see reeve daemon logs.",
});

/** Where there is no tool that could answer with it. */
export function protocolErrorOf(error: unknown): ProtocolError {
  const problem = problemOf(error);
  const isGivers = error instanceof ReeveError && ["usage", "not-found", "forbidden"].includes(error.kind);
  const code = isGivers ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, `${problem.message} ${problem.next}`, problem);
}
