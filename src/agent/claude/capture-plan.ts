/**
 * How the traffic of one Claude Code is captured (2.1.325).
 *
 * Native: OTEL_LOG_RAW_API_BODIES=file:<dir> alone writes each request and each
 * whole response into a file; telemetry need not be on, and nothing is sent
 * anywhere.
 *
 * Proxy: ANTHROPIC_BASE_URL, in the settings too, because `env` of settings wins
 * over the environment. With an address other than Anthropic's own, Claude Code
 * switches some things off; what has a switch is switched on again.
 */
import { type Fields, fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { PlannedCapture } from "../../session/persistence.ts";
import { NO_PROXY_VARIABLES, upstreamOf, withoutOwnProxy } from "../base-url.ts";
import type { LaunchContext } from "../contract.ts";
import { elsewhereBy } from "./login.ts";

export interface ClaudeCapture {
  readonly environment: Readonly<Record<string, string>>;
  /** Further `env` of the settings that it is given. */
  readonly settings: Readonly<Record<string, string>>;
  readonly planned: PlannedCapture | null;
}

const BASE_URL = "ANTHROPIC_BASE_URL";
const TOOL_SEARCH = "ENABLE_TOOL_SEARCH";
const RAW_BODIES = "OTEL_LOG_RAW_API_BODIES";
const ANTHROPIC = "https://api.anthropic.com";
const UPSTREAM = "anthropic";
/** What an administrator sets wins over everything. */
const MANAGED_SETTINGS = "/etc/claude-code/managed-settings.json";

export const CAPTURE_VARIABLES = {
  native: [RAW_BODIES],
  proxy: [
    BASE_URL,
    TOOL_SEARCH,
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_GATEWAY",
    "CLAUDE_CODE_USE_MANTLE",
    ...NO_PROXY_VARIABLES,
  ],
} as const;

const NOT_CAPTURED: ClaudeCapture = { environment: {}, settings: {}, planned: null };

/** `settings`: those of the user, the nearest first. */
export function planCapture(
  { capture, launch, read }: LaunchContext,
  settings: readonly (Fields | null)[],
): ClaudeCapture {
  if (capture === null) return NOT_CAPTURED;
  const managed = parseFields(read(MANAGED_SETTINGS) ?? "");
  const inSettings = (name: string): string | null =>
    [managed, ...settings].map((one) => textIn(fieldsOf(one?.["env"]), name)).find((value) => value !== null) ?? null;
  const configured = (name: string): string | null => inSettings(name) ?? (launch.paths[name] || null);
  return capture.baseUrl === null ? native(capture.nativeDir, configured) : proxy(capture.baseUrl);

  function proxy(baseUrl: (upstream: string) => string): ClaudeCapture {
    const names = CAPTURE_VARIABLES.proxy.map((name) => [name, configured(name) ?? ""] as const);
    const elsewhere = elsewhereBy(Object.fromEntries(names));
    if (elsewhere !== undefined)
      throw refusal(`Claude Code reaches its model otherwise here (${elsewhere} is set), which a proxy cannot capture`);
    if (textIn(fieldsOf(managed?.["env"]), BASE_URL) !== null)
      throw refusal(`The managed settings in ${MANAGED_SETTINGS} set ${BASE_URL}, and nothing else counts`);
    const upstream = upstreamOf(configured(BASE_URL) ?? ANTHROPIC, BASE_URL);
    const isOwn = new URL(upstream).host === new URL(ANTHROPIC).host;
    // Somebody else's address has it off already.
    const search = isOwn && configured(TOOL_SEARCH) === null ? { [TOOL_SEARCH]: "true" } : {};
    const variables = { [BASE_URL]: baseUrl(UPSTREAM), ...search };
    return {
      environment: { ...variables, ...withoutOwnProxy(launch.paths) },
      settings: variables,
      planned: { switchedOff: isOwn ? SWITCHED_OFF : [], upstreams: { [UPSTREAM]: upstream } },
    };
  }
}

/** By what its own messages say. */
const SWITCHED_OFF = [
  "Remote Control is off: Claude Code allows it only without a proxy in between.",
  "Settings that an organization manages on claude.ai are not fetched.",
] as const;

function native(directory: string, configured: (name: string) => string | null): ClaudeCapture {
  if (configured(RAW_BODIES) === null)
    return {
      environment: { [RAW_BODIES]: `file:${directory}` },
      settings: {},
      planned: { switchedOff: [], upstreams: {} },
    };
  const sentence = `Requests to the model are not captured: you have set ${RAW_BODIES}, and Reeve leaves it as it is. Use --capture proxy instead.`;
  return { environment: {}, settings: {}, planned: { switchedOff: [sentence], upstreams: {} } };
}

function refusal(why: string): ReeveError {
  return new ReeveError({ code: "capture-unavailable", kind: "usage", message: `${why}: use --capture native.` });
}
