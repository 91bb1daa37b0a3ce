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
  const config = readConfig(home, read);
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
  const own = ownProviderOf(config);
  if (own === null) return null;
  const { name, provider } = own;
  const variable = textIn(provider, "env_key");
  if (variable === null) return { status: "logged-in", text: `the model provider ${name} needs no key` };
  return (environment[variable] ?? "") === ""
    ? { status: "logged-out", text: `${variable}, the key of the model provider ${name}, is not set` }
    : { status: "logged-in", text: `${variable} is set, for the model provider ${name}` };
}

/** Those that the provider of the user's names; its address is in config.toml as well. OpenAI's own wants none. */
export function loginVariables({ launch, read }: Omit<LoginContext, "environment">): readonly string[] {
  const home = codexHome(launch);
  const config = home === null ? null : readConfig(home, read);
  const own = config === null ? null : ownProviderOf(config);
  if (own === null) return [];
  const headers = Object.values(fieldsOf(own.provider["env_http_headers"]));
  return [textIn(own.provider, "env_key"), ...headers].filter((name): name is string => typeof name === "string");
}

/** The provider of the user's that config.toml chooses; null where that is OpenAI's, or logs in there. */
export function ownProviderOf(config: Fields): { readonly name: string; readonly provider: Fields } | null {
  const name = textIn(config, "model_provider");
  if (name === null || name === "openai") return null;
  const provider = fieldsOf(fieldsOf(config["model_providers"])[name]);
  return provider["requires_openai_auth"] === true ? null : { name, provider };
}

/** Null where it is no TOML. */
export function readConfig(home: string, read: LoginContext["read"]): Fields | null {
  try {
    return parse(read(join(home, "config.toml")) ?? "");
  } catch {
    return null;
  }
}
