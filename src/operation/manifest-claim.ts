/**
 * A start that a manifest asks for. A session of a manifest exists once: asked
 * for again, also at the same moment or by a command that was interrupted, the
 * start answers with the session that is there. An id belongs to one manifest.
 */
import * as z from "zod/mini";
import { changesIn } from "../fleet/manifest-plan.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { shellWord } from "../platform/shell-quote.ts";
import type { ManifestOrigin } from "../session/manifest-origin.ts";
import { isEnded, type Session } from "../session/session.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import type { Registry } from "../store/contract.ts";
import type { OperationContext } from "./contract.ts";
import { count, plainText, whenUsed } from "./field.ts";

export const manifestOrigin = whenUsed(() =>
  z.object({
    file: plainText().check(z.minLength(1, "a path"), z.describe("The manifest: its absolute path, without links.")),
    id: z
      .string()
      .check(
        z.regex(SESSION_ID_PATTERN, "made of lower-case letters, digits and dashes, at most 64"),
        z.describe("The session's id in it."),
      ),
    order: count("Its place in it, from 0 on."),
    spec: z
      .record(z.string(), z.unknown())
      .check(z.describe("What the manifest says of it, as `plan_manifest` tells; compared with the file later.")),
  }),
);

export const manifestInput = {
  manifest: z
    .optional(manifestOrigin)
    .check(
      z.describe(
        "The manifest that asks for it, as `plan_manifest` tells. If a session of this manifest with this id is there, it is the answer, and nothing is started.",
      ),
    ),
} as const;

/** Starts that are not recorded yet. */
const underWay = new WeakMap<Registry, Map<string, Promise<unknown>>>();

/**
 * From the look at what is there to the record of the session nobody else gets
 * in between. `onRepeat` is told of a session that is there already.
 */
export async function claimingManifest(
  context: OperationContext,
  asked: ManifestOrigin | undefined,
  start: () => Promise<string>,
  onRepeat: (sessionId: string) => void,
): Promise<string> {
  if (asked === undefined) return await start();
  if (context.caller.kind === "session") throw onlyOperators();
  const { registry } = context.store;
  const starting = underWay.get(registry) ?? new Map<string, Promise<unknown>>();
  underWay.set(registry, starting);
  for (let before = starting.get(asked.id); before !== undefined; before = starting.get(asked.id))
    await before.catch(() => undefined);
  const holder = holderOf(registry, asked.id);
  if (holder !== undefined && holder.identity.manifest?.file !== asked.file) throw claimed(asked, holder);
  if (holder !== undefined) {
    if (changesIn(holder.identity.manifest?.spec ?? {}, asked.spec).length > 0) throw otherwise(holder);
    onRepeat(holder.id);
    return holder.id;
  }
  const begun = start();
  starting.set(asked.id, begun);
  try {
    return await begun;
  } finally {
    starting.delete(asked.id);
  }
}

/** The session that has this id by a manifest; sessions that were ended have none. */
export function holderOf(registry: Registry, id: string): Session | undefined {
  return registry.all().find((session) => session.identity.manifest?.id === id && !isEnded(session));
}

export function claimed({ id, file }: Pick<ManifestOrigin, "id" | "file">, holder: Session): ReeveError {
  const other = holder.identity.manifest?.file ?? "";
  return new ReeveError({
    code: "manifest-id-claimed",
    kind: "conflict",
    message: `Another manifest has a session ${id} already: ${other}; give this one another id, or end that one with: reeve down -f ${shellWord(other)}`,
    details: { session_id: holder.id, file: other, by: file },
  });
}

function otherwise({ id, identity: { name } }: Session): ReeveError {
  return new ReeveError({
    code: "manifest-session-differs",
    kind: "conflict",
    message: `Session ${name} of this manifest runs with other settings; run reeve up again, which replaces it.`,
    details: { session_id: id },
  });
}

function onlyOperators(): ReeveError {
  return new ReeveError({
    code: "not-allowed",
    kind: "forbidden",
    message: "A session may not carry out a manifest: manifests belong to the operator; start sessions without one.",
  });
}
