/** What Gemini CLI needs of the user's files in a container (0.61.0). It writes its log-in in place, also through a link. */
import { join } from "node:path";
import type { Launch } from "../../session/session.ts";
import type { HomePart } from "../contract.ts";
import { userDirOf } from "./home-overlay.ts";

const SHARED = ["oauth_creds.json", "gemini-credentials.json"];
const COPIED = ["trustedFolders.json", "google_accounts.json", "installation_id"];
const READ = ["settings.json", "GEMINI.md", ".env", "commands", "extensions", "policies", "skills"];

export function homeParts(launch: Launch): readonly HomePart[] {
  const dir = userDirOf(launch);
  if (dir === null) return [];
  const named = (names: readonly string[], how: HomePart["how"]): readonly HomePart[] =>
    names.map((name) => ({ path: `.gemini/${name}`, source: join(dir, name), how }));
  return [...named(SHARED, "shared"), ...named(COPIED, "copied"), ...named(READ, "read-only")];
}
