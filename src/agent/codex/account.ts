/** Whose limits Codex draws on: the key of the provider that config.toml chooses, or the log-in in auth.json (0.166.0). */
import { join } from "node:path";
import { type Fields, fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { keyAccount } from "../account-name.ts";
import type { LoginContext } from "../contract.ts";
import { codexHome } from "./codex-home.ts";
import { ownProviderOf, readConfig } from "./login.ts";

const OPENAI = "https://api.openai.com/v1";

export function readAccount({ environment, launch, read }: LoginContext): string | null {
  const home = codexHome(launch);
  const config = home === null ? null : readConfig(home, read);
  if (home === null || config === null) return null;
  const own = ownProviderOf(config);
  if (own !== null) return providerAccount(own.provider, environment);
  const authPath = join(home, "auth.json");
  const auth = parseFields(read(authPath) ?? "");
  const tokens = fieldsOf(auth?.["tokens"]);
  if (textIn(tokens, "access_token") !== null) {
    const id = textIn(tokens, "account_id");
    return id === null ? `ChatGPT, logged in by ${authPath}` : `ChatGPT ${id}`;
  }
  const key = textIn(auth, "OPENAI_API_KEY");
  return key === null ? null : keyAccount(key, textIn(config, "openai_base_url") ?? OPENAI);
}

/** One that needs no key has no account: null. */
function providerAccount(provider: Fields, environment: LoginContext["environment"]): string | null {
  const key = environment[textIn(provider, "env_key") ?? ""] ?? "";
  return key === "" ? null : keyAccount(key, textIn(provider, "base_url") ?? OPENAI);
}
