/**
 * What this server says of itself: its name, what it can do, its tools, what can
 * be read without them. No SDK is loaded for it, so that it can be told before
 * that is there.
 */
import { CATALOGUE, type Tool } from "./catalogue.ts";

/** modern: from 2026-07-28 on. */
export type Era = "modern" | "legacy";

export const SESSIONS_URI = "reeve://sessions";
export const EVENTS_URI = "reeve://events";
const JSON_TYPE = "application/json";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface ServerName {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

export function serverName(version: string): ServerName {
  return { name: "reeve", title: "Reeve", version };
}

/** `canSubscribe`: said of older clients only, whose connection outlives a request. */
export function capabilitiesFor(era: Era, canSubscribe: boolean) {
  return {
    tools: {},
    resources: era === "modern" || canSubscribe ? { subscribe: true } : {},
    ...(era === "modern" ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
  };
}

export function toolsFor({ isSession }: { readonly isSession: boolean }): Tool[] {
  const shown = isSession ? CATALOGUE.filter(({ isForSessions }) => isForSessions) : CATALOGUE;
  return shown.map(({ tool }) => ({ ...tool, annotations: { ...tool.annotations } }));
}

export const RESOURCES = [
  {
    uri: SESSIONS_URI,
    name: "sessions",
    title: "Sessions",
    description: "Every session you may see, as list_sessions tells it.",
    mimeType: JSON_TYPE,
  },
  {
    uri: EVENTS_URI,
    name: "events",
    title: "Events",
    description: "The newest events of the log, oldest first.",
    mimeType: JSON_TYPE,
  },
];

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: "reeve://sessions/{id}/transcript",
    name: "transcript",
    title: "Transcript of a session",
    description:
      "What a session said last, as get_session_data tells it. Updates are told for its id, not for its name.",
    mimeType: JSON_TYPE,
  },
];
