/** Whose limits Gemini CLI draws on (0.61.0): the Google account where its settings choose that, else the API key. */
import { join } from "node:path";
import { parseFields, textIn } from "../../platform/json-fields.ts";
import { keyAccount, printOf } from "../account-name.ts";
import type { LoginContext } from "../contract.ts";
import { userDirOf } from "./home-overlay.ts";
import { envFilesOf, keyIn, KEYS, selectedType } from "./login.ts";

const GOOGLE = "https://generativelanguage.googleapis.com";

export function readAccount({ environment, launch, read }: LoginContext): string | null {
  const dir = userDirOf(launch);
  const selected = dir === null ? null : selectedType(parseFields(read(join(dir, "settings.json")) ?? ""));
  const google = dir === null ? null : googleAccount(dir, read);
  if (google !== null && selected === "oauth-personal") return google;
  const set = KEYS.map((name) => environment[name] ?? "").find((key) => key !== "");
  const files = dir === null ? [] : envFilesOf(launch.cwd, dir).map((path) => keyIn(read(path) ?? ""));
  const key = set ?? files.find((found) => found !== null) ?? null;
  if (key !== null) return keyAccount(key, environment["GOOGLE_GEMINI_BASE_URL"] || GOOGLE);
  return google;
}

/** `google_accounts.json` names the account by its address, which is nobody's business here. */
function googleAccount(dir: string, read: LoginContext["read"]): string | null {
  const credentials = join(dir, "oauth_creds.json");
  const tokens = parseFields(read(credentials) ?? "");
  if (textIn(tokens, "refresh_token") === null && textIn(tokens, "access_token") === null) return null;
  const active = textIn(parseFields(read(join(dir, "google_accounts.json")) ?? ""), "active");
  return active === null ? `Google, logged in by ${credentials}` : `Google account ${printOf(active)}`;
}
