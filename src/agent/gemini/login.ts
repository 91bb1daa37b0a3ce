/**
 * Whether Gemini CLI is logged in, as its variables and files tell (0.61.0). It also keeps log-ins in the system's
 * keyring, which is not looked at: where its settings name a way to log in and nothing else is found, that is unknown.
 */
import { dirname, join } from "node:path";
import type { Login, LoginContext } from "../contract.ts";
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { userDirOf } from "./home-overlay.ts";

const KEYS = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const;
const ELSEWHERE = ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_APPLICATION_CREDENTIALS"] as const;

export function readLogin({ environment, launch, read }: LoginContext): Login {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const key = KEYS.find(isSet);
  if (key !== undefined) return { status: "logged-in", text: `${key} is set` };
  const dir = userDirOf(launch);
  if (dir === null) return { status: "unknown", text: "HOME is not set" };
  const envFile = envFilesOf(launch.cwd, dir).find((path) => holdsKey(read(path) ?? ""));
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

function selectedType(settings: ReturnType<typeof parseFields>): string | null {
  return textIn(fieldsOf(fieldsOf(settings?.["security"])["auth"]), "selectedType");
}

/** It reads the first of these that is there. */
function envFilesOf(cwd: string, dir: string): readonly string[] {
  return [join(cwd, ".gemini", ".env"), join(cwd, ".env"), join(dir, ".env"), join(dirname(dir), ".env")];
}

function holdsKey(text: string): boolean {
  return KEYS.some((name) => new RegExp(String.raw`^[ \t]*(?:export[ \t]+)?${name}[ \t]*=[ \t]*\S`, "m").test(text));
}
