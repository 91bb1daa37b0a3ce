/**
 * Whether Gemini CLI will ask if the folder is trusted. While it asks, it runs
 * a prompt of its command line already, without hooks, and a yes restarts it:
 * the prompt's turn is never told, and cut off if it was still under way
 * (0.61.0). So a prompt is given only where nothing will be asked.
 */
import { dirname, resolve } from "node:path";
import { fieldsOf, parseFields } from "../../platform/json-fields.ts";
import { withoutComments } from "../../platform/json-comments.ts";

/** What is not found counts as open: links are not followed here. */
export function isTrustDecided(
  cwd: string,
  args: readonly string[],
  { folders, settings }: { readonly folders: string | null; readonly settings: string | null },
): boolean {
  if (args.includes("--skip-trust")) return true;
  const folderTrust = fieldsOf(fieldsOf(parsed(settings)["security"])["folderTrust"]);
  if (folderTrust["enabled"] === false) return true;
  return Object.entries(parsed(folders)).some(([path, level]) => {
    if (level === "TRUST_PARENT") return isBelow(cwd, dirname(path));
    return (level === "TRUST_FOLDER" || level === "DO_NOT_TRUST") && isBelow(cwd, path);
  });
}

function parsed(text: string | null): Readonly<Record<string, unknown>> {
  return parseFields(withoutComments(text ?? "")) ?? {};
}

function isBelow(path: string, folder: string): boolean {
  const [inner, outer] = [resolve(path), resolve(folder)];
  return inner === outer || inner.startsWith(outer === "/" ? outer : `${outer}/`);
}
