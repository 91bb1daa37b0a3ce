/**
 * Whether Codex is logged in, as its own files tell (0.166.0). Its built-in provider wants auth.json, and takes no key
 * from the environment; a provider of the user's may want a variable, or nothing.
 */
import { join } from "node:path";
import { parse } from "smol-toml";
import type { Login, LoginContext } from "../contract.ts";
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import type { Fields } from "../../platform/json-fields.ts";
import { codexHome } from "./codex-home.ts";

export function readLogin({ environment, launch, read }: LoginContext): Login {
  const home = codexHome(launch);
  if (home === null) return { status: "unknown", text: "neither HOME nor CODEX_HOME is set" };
  const config = configOf(read(join(home, "config.toml")) ?? "");
  if (config === null) return { status: "unknown", text: `${join(home, "config.toml")} cannot be read` };
  const ofProvider = byProvider(config, environment);
  if (ofProvider !== null) return ofProvider;
  const authPath = join(home, "auth.json");
  const auth = parseFields(read(authPath) ?? "");
  const hasTokens = textIn(fieldsOf(auth?.["tokens"]), "access_token") !== null;
  if (hasTokens || textIn(auth, "OPENAI_API_KEY") !== null) return { status: "logged-in", text: `by ${authPath}` };
  const store = textIn(config, "cli_auth_credentials_store") ?? "file";
  if (store !== "file") return { status: "unknown", text: `its log-in may be in the keyring (${store})` };
  return { status: "logged-out", text: `there is no log-in in ${authPath}` };
}

/** Of the provider that config.toml chooses; null where that is OpenAI's, which needs a log-in. */
function byProvider(config: Fields, environment: Readonly<Record<string, string>>): Login | null {
  const name = textIn(config, "model_provider");
  if (name === null || name === "openai") return null;
  const provider = fieldsOf(fieldsOf(config["model_providers"])[name]);
  if (provider["requires_openai_auth"] === true) return null;
  const variable = textIn(provider, "env_key");
  if (variable === null) return { status: "logged-in", text: `the model provider ${name} needs no key` };
  return (environment[variable] ?? "") === ""
    ? { status: "logged-out", text: `${variable}, the key of the model provider ${name}, is not set` }
    : { status: "logged-in", text: `${variable} is set, for the model provider ${name}` };
}

function configOf(text: string): Fields | null {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
