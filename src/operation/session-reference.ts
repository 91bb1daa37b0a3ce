/** Sessions are addressed by id, by name, or by a unique prefix of the id. */
import * as z from "zod/mini";
import { editDistance } from "../platform/edit-distance.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import { isEnded } from "../session/session.ts";
import type { Session } from "../session/session.ts";
import type { Registry } from "../store/contract.ts";

/** What may stand for a session; checked before anything is looked up. */
export const sessionReference = z
  .string()
  .check(
    z.regex(SESSION_ID_PATTERN, "made of lower-case letters, digits and dashes, at most 64"),
    z.describe("A session: its id, its name, or any beginning of its id that no other session has."),
  );

type Known = Pick<Registry, "get" | "all" | "living" | "byName">;

export function resolveSession(registry: Known, reference: string): Session {
  const byId = registry.get(reference);
  if (byId !== undefined) return byId;
  const named = registry.byName(reference);
  const living = named.filter((session) => !isEnded(session));
  if (living.length === 1 && living[0] !== undefined) return living[0];
  // Only a database that was rebuilt from old files can hold two: each is still reached by its id.
  if (living.length > 1) throw ambiguous(reference, living);
  // Of several ended ones with this name the latest is meant.
  const latest = named.at(-1);
  if (latest !== undefined) return latest;
  const prefixed = registry.all().filter((session) => session.id.startsWith(reference));
  if (prefixed.length === 1 && prefixed[0] !== undefined) return prefixed[0];
  if (prefixed.length > 1) throw ambiguous(reference, prefixed);
  throw unknown(registry, reference);
}

/**
 * The same among these alone: of others a caller learns only that they are
 * others. Null: it is one of them.
 */
export function resolveAmong(
  registry: Registry,
  reference: string,
  has: (session: Session) => boolean,
): Session | null {
  const own: Known = {
    get: (id) => [registry.get(id)].find((session) => session !== undefined && has(session)),
    all: () => registry.all().filter(has),
    living: () => registry.living().filter(has),
    byName: (name) => registry.byName(name).filter(has),
  };
  try {
    return resolveSession(own, reference);
  } catch (error) {
    if (error instanceof ReeveError && error.code === "unknown-session" && isKnown(registry, reference)) return null;
    throw error;
  }
}

function isKnown(registry: Registry, reference: string): boolean {
  try {
    resolveSession(registry, reference);
    return true;
  } catch (error) {
    return error instanceof ReeveError && error.code === "ambiguous-session";
  }
}

function ambiguous(reference: string, matches: readonly Session[]): ReeveError {
  const shown = matches.slice(0, 5).map((session) => `${session.id} (${session.identity.name})`);
  return new ReeveError({
    code: "ambiguous-session",
    kind: "usage",
    message: `"${reference}" matches ${matches.length} sessions; give more of the id: ${shown.join(", ")}.`,
    details: { matches: matches.slice(0, 5).map((session) => session.id) },
  });
}

function unknown(registry: Known, reference: string): ReeveError {
  const nearest = registry
    .living()
    .map((session) => ({
      session,
      distance: Math.min(editDistance(session.identity.name, reference), editDistance(session.id, reference)),
    }))
    .filter((candidate) => candidate.distance <= Math.max(2, reference.length / 2))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ session }) => session.identity.name);
  const hint = nearest.length === 0 ? "see reeve list --all" : `did you mean ${nearest.join(", ")}?`;
  return new ReeveError({
    code: "unknown-session",
    kind: "not-found",
    message: `There is no session "${reference}"; ${hint}.`.replace("?.", "?"),
    details: { nearest },
  });
}
