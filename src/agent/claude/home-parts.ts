/**
 * What Claude Code needs of the user's files in a container (2.1.325). It
 * replaces `.credentials.json` by renaming where it can, and does not read it
 * through a link; a file that is mounted by itself cannot be renamed over, so
 * its log-in is kept in step instead.
 */
import { join } from "node:path";
import { type Fields, fieldsOf, parseFields } from "../../platform/json-fields.ts";
import type { Launch } from "../../session/session.ts";
import type { HomePart } from "../contract.ts";
import { globalPathOf } from "./login.ts";
import { configDirOf } from "./transcript-path.ts";

const READ = ["settings.json", "CLAUDE.md", "agents", "commands", "skills", "output-styles", "plugins"];

export function homeParts({ paths, cwd }: Launch): readonly HomePart[] {
  const dir = configDirOf(paths);
  if (dir === null) return [];
  const part = (name: string, how: HomePart["how"]): HomePart => ({
    path: `.claude/${name}`,
    source: join(dir, name),
    how,
  });
  const shorten = (text: string): string => forProject(parseFields(text), cwd);
  return [
    part(".credentials.json", "in-step"),
    { path: ".claude.json", source: globalPathOf(dir, paths), how: "copied", shorten },
    ...READ.map((name) => part(name, "read-only")),
  ];
}

/** What it remembers of other directories is nobody's business there. */
function forProject(global: Fields | null, cwd: string): string {
  const own = fieldsOf(global?.["projects"])[cwd];
  return `${JSON.stringify({ ...global, projects: own === undefined ? {} : { [cwd]: own } })}\n`;
}
