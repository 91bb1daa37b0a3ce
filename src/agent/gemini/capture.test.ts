import { expect, test } from "vitest";
import { makeContext, makeLaunch } from "../agent-fixture.ts";
import { planLaunch } from "./launch-plan.ts";

const capture = {
  how: "proxy",
  nativeDir: "/h/s-1/native",
  baseUrl: (name: string) => `http://127.0.0.1:7/key/${name}`,
  debugLog: null,
} as const;

function planOf(paths: Readonly<Record<string, string>>, type: string | null = null, envFile: string | null = null) {
  const settings = type === null ? "{}" : JSON.stringify({ security: { auth: { selectedType: type } } });
  const read = (path: string): string | null =>
    path === "/u/.gemini/settings.json" ? settings : path === "/u/.gemini/.env" ? envFile : null;
  const { environment, capture: planned } = planLaunch(
    makeContext({ launch: makeLaunch({ paths: { HOME: "/u", ...paths } }), capture, read }),
  );
  const [variable] = Object.entries(environment).find(([, value]) => value.startsWith("http://127.0.0.1:7/")) ?? [];
  return { variable, upstream: Object.values(planned?.upstreams ?? {})[0] };
}

test.each([
  ["a key", {}, "gemini-api-key", "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"],
  ["a log-in with Google", {}, "oauth-personal", "CODE_ASSIST_ENDPOINT", "https://cloudcode-pa.googleapis.com"],
  [
    "Google by a variable",
    { GOOGLE_GENAI_USE_GCA: "true" },
    null,
    "CODE_ASSIST_ENDPOINT",
    "https://cloudcode-pa.googleapis.com",
  ],
  ["Vertex AI", {}, "vertex-ai", "GOOGLE_VERTEX_BASE_URL", "https://aiplatform.googleapis.com"],
  [
    "Vertex AI somewhere",
    { GOOGLE_CLOUD_LOCATION: "europe-west1" },
    "vertex-ai",
    "GOOGLE_VERTEX_BASE_URL",
    "https://europe-west1-aiplatform.googleapis.com",
  ],
  [
    "an address of the user's",
    { GOOGLE_GEMINI_BASE_URL: "https://gate.example/g/" },
    null,
    "GOOGLE_GEMINI_BASE_URL",
    "https://gate.example/g",
  ],
])("a proxy with %s", (_title, paths, type, variable, upstream) => {
  expect(planOf(paths, type)).toEqual({ variable, upstream });
});

test("an address in the first .env counts less than one of the environment", () => {
  const file = "GOOGLE_GEMINI_BASE_URL='https://file.example'\n";
  expect(planOf({}, null, file).upstream).toBe("https://file.example");
  expect(planOf({ GOOGLE_GEMINI_BASE_URL: "https://env.example" }, null, file).upstream).toBe("https://env.example");
});

test("an address that is none is refused", () => {
  expect(() => planOf({ GOOGLE_GEMINI_BASE_URL: "nowhere" })).toThrow(
    "GOOGLE_GEMINI_BASE_URL is not an http or https URL: correct it, or leave --capture proxy out.",
  );
});
