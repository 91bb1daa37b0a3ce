/** The manifest that made a session, as every surface shows it. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { ManifestOrigin } from "../session/manifest-origin.ts";
import { count, text, textOrNull, whenUsed } from "./field.ts";

export const manifestSchema = whenUsed(() =>
  z
    .nullable(
      z.object({
        file: text("The manifest."),
        id: text("Its id there, which stays the same if the session is renamed."),
        order: count("Its place in the manifest, from 0 on."),
        tags: z.array(z.string()).check(z.describe("Words that the manifest gives it.")),
        contact: textOrNull("Whom to ask about it; null where the manifest does not say."),
      }),
    )
    .check(z.describe("The manifest (reeve.toml) that made it; null where none did.")),
);

export function viewManifest(origin: ManifestOrigin | null): z.infer<typeof manifestSchema> {
  if (origin === null) return null;
  const { file, id, order, spec } = origin;
  const { tags, contact } = spec;
  const words = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
  return {
    file: stripTerminal(file),
    id,
    order,
    tags: words.map(stripTerminal),
    contact: typeof contact === "string" ? stripTerminal(contact) : null,
  };
}
