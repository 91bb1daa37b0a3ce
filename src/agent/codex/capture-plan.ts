/**
 * How the traffic of one Codex is captured (0.166.0).
 *
 * Native: CODEX_ROLLOUT_TRACE_ROOT, a directory for its rollout trace.
 *
 * Proxy: a flag for the process that runs the turns. The built-in provider has
 * `openai_base_url`, for a key and for a log-in with ChatGPT alike, which
 * otherwise go to different addresses; a provider of the user's has its own
 * `base_url`. A websocket is tried first at the same address. Codex ignores
 * OPENAI_BASE_URL, and what a project's config.toml says of providers.
 */
import { join } from "node:path";
import { type Fields, fieldsOf, fieldsOrNull, parseFields, textIn } from "../../platform/json-fields.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { PlannedCapture } from "../../session/persistence.ts";
import { NO_PROXY_VARIABLES, upstreamOf, withoutOwnProxy } from "../base-url.ts";
import type { CaptureContext, LaunchContext } from "../contract.ts";
import { codexHome } from "./codex-home.ts";
import { readConfig } from "./login.ts";
import { tomlText } from "./toml-value.ts";
import { type ConfigOverrides, overridesIn } from "./config-override.ts";
import type { UserArguments } from "./user-arguments.ts";

export interface CodexCapture {
  readonly environment: Readonly<Record<string, string>>;
  /** For the process that runs the turns. */
  readonly flags: readonly string[];
  readonly planned: PlannedCapture | null;
}

const TRACE_ROOT = "CODEX_ROLLOUT_TRACE_ROOT";
const OPENAI = "https://api.openai.com/v1";
const CHATGPT = "https://chatgpt.com/backend-api/codex";

export const CAPTURE_VARIABLES = { native: [TRACE_ROOT], proxy: NO_PROXY_VARIABLES } as const;

export function planCapture(context: LaunchContext, user: UserArguments): CodexCapture {
  const { capture } = context;
  if (capture === null) return { environment: {}, flags: [], planned: null };
  const plan = captured(context, user, capture);
  if (capture.debugLog === null) return plan;
  // It has no more to say without this; codex-tui.log is the name that it gives the file.
  const environment = { ...plan.environment, RUST_LOG: "codex_core=debug,codex_tui=debug,info" };
  return { ...plan, environment, flags: [...plan.flags, "-c", `log_dir=${tomlText(capture.nativeDir)}`] };
}

function captured(context: LaunchContext, user: UserArguments, capture: CaptureContext): CodexCapture {
  const { launch } = context;
  if (capture.baseUrl === null) return native(capture.nativeDir, launch.paths);
  const { setting, name, upstream } = providerOf(context, overridesIn(user.all));
  return {
    environment: withoutOwnProxy(launch.paths),
    flags: ["-c", `${setting}=${tomlText(capture.baseUrl(name))}`],
    planned: { switchedOff: [], upstreams: { [name]: upstream } },
  };
}

function native(directory: string, paths: Readonly<Record<string, string>>): CodexCapture {
  if ((paths[TRACE_ROOT] ?? "") === "")
    return { environment: { [TRACE_ROOT]: directory }, flags: [], planned: { switchedOff: [], upstreams: {} } };
  const sentence = `Requests to the model are not captured: you have set ${TRACE_ROOT}, and Reeve leaves it as it is. Use --capture proxy instead.`;
  return { environment: {}, flags: [], planned: { switchedOff: [sentence], upstreams: {} } };
}

interface Provider {
  /** What of Codex's configuration holds its base URL. */
  readonly setting: string;
  /** Of the upstream. */
  readonly name: string;
  readonly upstream: string;
}

/** The one that it will use: flags count more than a profile, and that more than the rest of config.toml. */
function providerOf(context: LaunchContext, given: ConfigOverrides): Provider {
  const home = codexHome(context.launch);
  const config = (home === null ? null : readConfig(home, context.read)) ?? {};
  const profile = given.profile ?? given.text("profile") ?? textIn(config, "profile");
  const chosen = profile === null ? {} : fieldsOf(fieldsOf(config["profiles"])[profile]);
  const value = (key: string): string | null => given.text(key) ?? textIn(chosen, key) ?? textIn(config, key);
  const id = value("model_provider") ?? "openai";
  if (id === "openai") {
    const own = value("openai_base_url");
    const upstream = own === null ? addressOfLogin(context, config) : upstreamOf(own, "openai_base_url of Codex");
    return { setting: "openai_base_url", name: "openai", upstream };
  }
  const table = fieldsOrNull(fieldsOf(config["model_providers"])[id]);
  const setting = `model_providers.${id}.base_url`;
  // Its own others (ollama, lmstudio, …) cannot be changed, and a dot would be taken for a table in a table.
  if (!/^[\w-]+$/.test(id) || (table === null && given.text(setting) === null))
    throw refusal(`Codex uses its model provider "${id}", whose address cannot be changed for a proxy`);
  const own = given.text(setting) ?? textIn(table, "base_url");
  const upstream = own === null ? addressOfLogin(context, config) : upstreamOf(own, `${setting} of Codex`);
  return { setting, name: "provider", upstream };
}

function addressOfLogin({ launch, read }: LaunchContext, config: Fields): string {
  const home = codexHome(launch);
  const auth = home === null ? null : parseFields(read(join(home, "auth.json")) ?? "");
  if (textIn(fieldsOf(auth?.["tokens"]), "access_token") !== null) return CHATGPT;
  if ((textIn(config, "cli_auth_credentials_store") ?? "file") === "file" || auth !== null) return OPENAI;
  throw refusal("Codex keeps its log-in in the keyring, so Reeve cannot tell which address it uses");
}

function refusal(why: string): ReeveError {
  return new ReeveError({ code: "capture-unavailable", kind: "usage", message: `${why}: use --capture native.` });
}
