/**
 * Whether Gemini CLI is logged in, as its variables and files tell (0.61.0). It also keeps log-ins in the system's
 * keyring, which is not looked at: where its settings name a way to log in and nothing else is found, that is unknown.
 */
import { dirname, join } from "node:path";
import type { Login, LoginContext } from "../contract.ts";
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { userDirOf } from "./home-overlay.ts";

export const KEYS = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const;
/** A key that was made for an address goes to no other; GOOGLE_API_KEY counts only with Vertex (0.61.0). */
export const LOGIN_VARIABLES = [
  ...KEYS,
  "GOOGLE_GEMINI_BASE_URL",
  "GOOGLE_VERTEX_BASE_URL",
  "GOOGLE_GENAI_USE_VERTEXAI",
] as const;
const ELSEWHERE = ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_APPLICATION_CREDENTIALS"] as const;

export function readLogin({ environment, launch, read }: LoginContext): Login {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const key = KEYS.find(isSet);
  if (key !== undefined) return { status: "logged-in", text: `${key} is set` };
  const dir = userDirOf(launch);
  if (dir === null) return { status: "unknown", text: "HOME is not set" };
  const envFile = envFilesOf(launch.cwd, dir).find((path) => keyIn(read(path) ?? "") !== null);
  if (envFile !== undefined) return { status: "logged-in", text: `by the key in ${envFile}` };
  const credentials = join(dir, "oauth_creds.json");
  const tokens = parseFields(read(credentials) ?? "");
  if (textIn(tokens, "refresh_token") !== null || textIn(tokens, "access_token") !== null)
    return { status: "logged-in", text: `by ${credentials}` };
  const elsewhere = ELSEWHERE.find(isSet);
  if (elsewhere !== undefined)
    return { status: "unknown", text: `${elsewhere} is set; Reeve does not check Google Cloud's log-in` };
  const selected = selectedType(parseFields(read(join(dir, "settings.json")) ?? ""));
  if (selected !== null)
    return { status: "unknown", text: `it logs in by ${selected}, and its log-in may be in the keyring` };
  return { status: "logged-out", text: `there is no log-in in ${dir}, and no key in the environment` };
}

export function selectedType(settings: ReturnType<typeof parseFields>): string | null {
  return textIn(fieldsOf(fieldsOf(settings?.["security"])["auth"]), "selectedType");
}

/** It reads the first of these that is there. */
export function envFilesOf(cwd: string, dir: string): readonly string[] {
  return [join(cwd, ".gemini", ".env"), join(cwd, ".env"), join(dir, ".env"), join(dirname(dir), ".env")];
}

/** The key that such a file sets. */
export function keyIn(text: string): string | null {
  for (const name of KEYS) {
    const found = variableIn(text, name);
    if (found !== null) return found;
  }
  return null;
}

export function variableIn(text: string, name: string): string | null {
  const found = new RegExp(String.raw`^[ \t]*(?:export[ \t]+)?${name}[ \t]*=[ \t]*(\S+)`, "m").exec(text)?.[1];
  return found?.replaceAll(/^["']|["']$/g, "") ?? null;
}
