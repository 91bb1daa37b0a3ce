/** Whose limits Claude Code draws on, in the order in which it looks for a log-in (2.1.325). */
import { join } from "node:path";
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { keyAccount, printOf } from "../account-name.ts";
import type { LoginContext } from "../contract.ts";
import { globalPathOf, elsewhereBy } from "./login.ts";
import { configDirOf } from "./transcript-path.ts";

export function readAccount({ environment, launch, read }: LoginContext): string | null {
  const base = environment["ANTHROPIC_BASE_URL"] || "https://api.anthropic.com";
  const key = environment["ANTHROPIC_API_KEY"] || environment["ANTHROPIC_AUTH_TOKEN"] || "";
  if (key !== "") return keyAccount(key, base);
  const token = environment["CLAUDE_CODE_OAUTH_TOKEN"] || "";
  if (token !== "") return `claude.ai token ${printOf(token)}`;
  if (elsewhereBy(environment) !== undefined) return null;
  const configDir = configDirOf(launch.paths);
  if (configDir === null) return null;
  const global = parseFields(read(globalPathOf(configDir, launch.paths)) ?? "");
  const credentials = join(configDir, ".credentials.json");
  const tokens = fieldsOf(parseFields(read(credentials) ?? "")?.["claudeAiOauth"]);
  if (textIn(tokens, "accessToken") !== null || textIn(tokens, "refreshToken") !== null) {
    const id = textIn(fieldsOf(global?.["oauthAccount"]), "accountUuid");
    // Its tokens are renewed, so they are no name for it.
    return id === null ? `claude.ai, logged in by ${credentials}` : `claude.ai ${id}`;
  }
  const settings = join(configDir, "settings.json");
  const helper = textIn(parseFields(read(settings) ?? ""), "apiKeyHelper");
  if (helper !== null) return `apiKeyHelper of ${settings}`;
  const primary = textIn(global, "primaryApiKey");
  return primary === null ? null : keyAccount(primary, base);
}
