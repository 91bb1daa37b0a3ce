/** Whether Claude Code is logged in, as its variables and files tell (2.1.325). */
import { dirname, join } from "node:path";
import type { Login, LoginContext } from "../contract.ts";
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { configDirOf } from "./transcript-path.ts";

const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] as const;

/** Models of somebody else's, with log-ins of their own. */
const ELSEWHERE = /^CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY|GATEWAY|MANTLE)$/;

/** A key that was made for an address goes to no other. */
export const LOGIN_VARIABLES = [...KEYS, "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"] as const;

export function readLogin({ environment, launch, read }: LoginContext): Login {
  const key = KEYS.find((name) => (environment[name] ?? "") !== "");
  if (key !== undefined) return { status: "logged-in", text: `${key} is set` };
  const elsewhere = elsewhereBy(environment);
  if (elsewhere !== undefined)
    return { status: "unknown", text: `${elsewhere} is set; Reeve does not check that provider's log-in` };
  const configDir = configDirOf(launch.paths);
  if (configDir === null) return { status: "unknown", text: "neither HOME nor CLAUDE_CONFIG_DIR is set" };
  const credentials = join(configDir, ".credentials.json");
  const tokens = fieldsOf(parseFields(read(credentials) ?? "")?.["claudeAiOauth"]);
  if (textIn(tokens, "accessToken") !== null || textIn(tokens, "refreshToken") !== null)
    return { status: "logged-in", text: `by ${credentials}` };
  const settings = join(configDir, "settings.json");
  if (textIn(parseFields(read(settings) ?? ""), "apiKeyHelper") !== null)
    return { status: "logged-in", text: `by the apiKeyHelper in ${settings}` };
  const global = globalPathOf(configDir, launch.paths);
  if (textIn(parseFields(read(global) ?? ""), "primaryApiKey") !== null)
    return { status: "logged-in", text: `by the key in ${global}` };
  return { status: "logged-out", text: `there is no log-in in ${credentials}, and no key in the environment` };
}

/** The variable that says so. */
export function elsewhereBy(environment: LoginContext["environment"]): string | undefined {
  return Object.keys(environment).find((name) => ELSEWHERE.test(name) && environment[name] !== "");
}

/** Beside `~/.claude`, but inside a directory that was chosen. */
export function globalPathOf(configDir: string, paths: Readonly<Record<string, string>>): string {
  const isChosen = (paths["CLAUDE_CONFIG_DIR"] ?? "") !== "";
  return join(isChosen ? configDir : dirname(configDir), ".claude.json");
}
