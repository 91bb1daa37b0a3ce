/** What a client can read without calling a tool: the sessions, a transcript, the newest events. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { showName } from "../../platform/shown-value.ts";
import type { Backend } from "./backend.ts";
import { EVENTS_URI, RESOURCE_TEMPLATES, RESOURCES, SESSIONS_URI } from "./introduction.ts";
import { protocolErrorOf } from "./tool-error.ts";

const TRANSCRIPT = /^reeve:\/\/sessions\/([^/?#]{1,400})\/transcript$/;

export function transcriptUri(sessionId: string): string {
  return `reeve://sessions/${encodeURIComponent(sessionId)}/transcript`;
}

export async function readResource(backend: Backend, uri: string, signal: AbortSignal): Promise<string> {
  try {
    if (uri === SESSIONS_URI) return (await backend.call("listSessions", {}, signal)).text;
    if (uri === EVENTS_URI) return await newestEvents(backend, signal);
    const [, session] = TRANSCRIPT.exec(uri) ?? [];
    if (session !== undefined)
      return (await backend.call("getSessionData", { session: decodeURIComponent(session) }, signal)).text;
  } catch (error) {
    throw protocolErrorOf(error);
  }
  const known = [...RESOURCES.map((one) => one.uri), ...RESOURCE_TEMPLATES.map((one) => one.uriTemplate)];
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no resource ${showName(uri)}; there are ${known.join(", ")}.`,
  );
}

const MOST_EVENTS = 200;

async function newestEvents(backend: Backend, signal: AbortSignal): Promise<string> {
  const head = await headOf(backend, signal);
  const since = Math.max(0, head - MOST_EVENTS);
  return (await backend.call("readEvents", { since, limit: MOST_EVENTS }, signal)).text;
}

/** Where the log ends now. */
export async function headOf(backend: Backend, signal: AbortSignal): Promise<number> {
  const { value } = await backend.call("listSessions", {}, signal);
  return Number(value["cursor"]);
}
