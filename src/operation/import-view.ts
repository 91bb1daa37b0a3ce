/** A session from elsewhere, as the API shows it. Its manifest was written by somebody else: texts are made safe. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Imported } from "../supervisor/story/imports.ts";
import { count, instant, text, yesOrNo, whenUsed } from "./field.ts";

export const importReference = z
  .string()
  .check(
    z.regex(/^import-[a-z0-9]{10}$/, "the id of an import, such as import-k3v9xw2apq"),
    z.describe("An import, by its id."),
  );

export const importSchema = whenUsed(() =>
  z
    .object({
      import_id: text("By this id reeve show finds it."),
      session_id: text("The id that the session had where it ran. It is no session of this home."),
      name: text("The name that it had there."),
      agent: text("Its agent."),
      role: text("Its role there."),
      living: yesOrNo("Whether it had not ended when it was exported."),
      exported_at: text("When it was exported, as its archive says."),
      imported_at: instant("When it was imported."),
      reeve_version: text("The Reeve that wrote the archive."),
      directory: text("Where its files are."),
      report: text("Its report, to be opened in a browser."),
      bytes: count("How much room it takes."),
    })
    .register(z.globalRegistry, { id: "Import", description: "A session from elsewhere, to be looked at." }),
);

export function viewImport({
  id,
  importedAt,
  manifest,
  directory,
  report,
  bytes,
}: Imported): z.infer<typeof importSchema> {
  return {
    import_id: id,
    session_id: stripTerminal(manifest.session_id),
    name: stripTerminal(manifest.name),
    agent: stripTerminal(manifest.agent),
    role: stripTerminal(manifest.role),
    living: manifest.living,
    exported_at: stripTerminal(manifest.exported_at),
    imported_at: importedAt,
    reeve_version: stripTerminal(manifest.reeve_version),
    directory,
    report,
    bytes,
  };
}
