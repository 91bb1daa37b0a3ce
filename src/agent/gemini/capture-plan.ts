/**
 * How the traffic of one Gemini CLI is captured (0.61.0): by a proxy only, since
 * it writes no requests itself. Which variable holds the address depends on how
 * it logs in; a variable of the environment counts more than one of its `.env`.
 */
import { join } from "node:path";
import { withoutComments } from "../../platform/json-comments.ts";
import { parseFields } from "../../platform/json-fields.ts";
import type { PlannedCapture } from "../../session/persistence.ts";
import { NO_PROXY_VARIABLES, upstreamOf, withoutOwnProxy } from "../base-url.ts";
import type { LaunchContext } from "../contract.ts";
import { envFilesOf, selectedType, variableIn } from "./login.ts";

export interface GeminiCapture {
  readonly environment: Readonly<Record<string, string>>;
  readonly planned: PlannedCapture | null;
}

interface Backend {
  readonly name: string;
  readonly variable: string;
  readonly address: string;
}

const GEMINI: Backend = {
  name: "gemini",
  variable: "GOOGLE_GEMINI_BASE_URL",
  address: "https://generativelanguage.googleapis.com",
};
const CODE_ASSIST: Backend = {
  name: "code-assist",
  variable: "CODE_ASSIST_ENDPOINT",
  address: "https://cloudcode-pa.googleapis.com",
};
const VERTEX_VARIABLE = "GOOGLE_VERTEX_BASE_URL";

export const CAPTURE_VARIABLES = {
  native: [],
  proxy: [
    GEMINI.variable,
    CODE_ASSIST.variable,
    VERTEX_VARIABLE,
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    ...NO_PROXY_VARIABLES,
  ],
} as const;

export function planCapture({ capture, launch, read }: LaunchContext, userDir: string): GeminiCapture {
  if (capture === null || capture.baseUrl === null) return { environment: {}, planned: null };
  const settings = [join(launch.cwd, ".gemini", "settings.json"), join(userDir, "settings.json")].map((path) =>
    selectedType(parseFields(withoutComments(read(path) ?? ""))),
  );
  const envFile = envFilesOf(launch.cwd, userDir)
    .map(read)
    .find((text) => text !== null);
  const configured = (name: string): string | null =>
    launch.paths[name] || (envFile === undefined || envFile === null ? null : variableIn(envFile, name));
  const backend = backendOf(settings.find((type) => type !== null) ?? null, configured);
  const upstream = upstreamOf(configured(backend.variable) ?? backend.address, backend.variable);
  return {
    environment: { [backend.variable]: capture.baseUrl(backend.name), ...withoutOwnProxy(launch.paths) },
    planned: { switchedOff: [], upstreams: { [backend.name]: upstream } },
  };
}

/** As it chooses itself where its settings do not say. */
function backendOf(selected: string | null, configured: (name: string) => string | null): Backend {
  const isOn = (name: string): boolean => configured(name) === "true";
  const type =
    selected ?? (isOn("GOOGLE_GENAI_USE_GCA") ? GOOGLE_LOGIN : isOn("GOOGLE_GENAI_USE_VERTEXAI") ? VERTEX_AI : "");
  if (CODE_ASSIST_TYPES.has(type)) return CODE_ASSIST;
  if (type !== VERTEX_AI) return GEMINI;
  return { name: "vertex", variable: VERTEX_VARIABLE, address: vertexAddress(configured("GOOGLE_CLOUD_LOCATION")) };
}

const GOOGLE_LOGIN = "oauth-personal";
const VERTEX_AI = "vertex-ai";
const CODE_ASSIST_TYPES: ReadonlySet<string> = new Set([GOOGLE_LOGIN, "compute-default-credentials", "cloud-shell"]);

function vertexAddress(location: string | null): string {
  if (location === null || location === "global") return "https://aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}
