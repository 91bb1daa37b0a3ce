/** What entries are filtered by, as words of the index: it finds those of one session as fast as those with one word. */
import type { Ask, Entry } from "./contract.ts";

export function aboutOf({ kind, sessionId, peer, agent, role }: Entry): string {
  return [
    word("kind", kind),
    ...(sessionId === null ? [] : [word("session", sessionId)]),
    ...(peer === null || peer === sessionId ? [] : [word("session", peer)]),
    ...(agent === null ? [] : [word("agent", agent)]),
    ...(role === null ? [] : [word("role", role)]),
  ].join(" ");
}

/** As a part of what FTS5 is asked; empty: nothing is filtered. */
export function aboutMatch({ kinds, sessionId, agent, role }: Ask): readonly string[] {
  const one = (name: string, value: string | null): readonly string[] =>
    value === null ? [] : [`about : "${word(name, value)}"`];
  const anyKind = kinds.map((kind) => `about : "${word("kind", kind)}"`).join(" OR ");
  return [
    ...(kinds.length === 0 ? [] : [`(${anyKind})`]),
    ...one("session", sessionId),
    ...one("agent", agent),
    ...one("role", role),
  ];
}

/** Letters and digits only, whatever the value is. */
function word(name: string, value: string): string {
  return `${name}${Buffer.from(value).toString("hex")}`;
}
