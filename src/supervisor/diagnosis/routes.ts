/**
 * Tries probes by the routes of a diagnosis: here, and where the session lives; what fails there once more without its
 * sandbox. It takes no longer than a person waits, however much hangs.
 */
import type { Clock } from "../../platform/clock.ts";
import { probeAll, type ProbeOutcome, type ProbeReport, type ProbeRequest } from "../../platform/probe.ts";
import { parseFields } from "../../platform/json-fields.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { type Finding, type RouteOutcome, verdictOf } from "../../session/diagnosis/verdict.ts";
import type { Probe } from "./probes.ts";

export interface LayerFinding extends Finding {
  readonly layer: string;
  readonly routes: readonly RouteOutcome[];
}

/** Where the session lives, for whoever can look from there. */
export interface Inside {
  /** Whether that is a container. */
  readonly isBoxed: boolean;
  readonly environment: Readonly<Record<string, string>>;
  /** With the agent's sandbox, where it has one. */
  readonly sandboxed: (input: string, timeoutMs: number) => Promise<string>;
  /** Null: it has none. */
  readonly unsandboxed: ((input: string, timeoutMs: number) => Promise<string>) | null;
}

const LIMIT_MS = 1_800;
/** For Node, and a sandbox, to start on a busy machine. */
const START_MS = 1_400;
const ALL_MS = 5_200;

export interface RouteParts {
  readonly clock: Clock;
  readonly ownEnvironment: Readonly<Record<string, string | undefined>>;
}

/** `inside`: a text says why nobody can look from there; null: there is no session. */
export async function tryRoutes(
  probes: readonly Probe[],
  inside: Inside | string | null,
  { clock, ownEnvironment }: RouteParts,
): Promise<readonly LayerFinding[]> {
  const begun = clock.monotonic();
  const here = (requests: readonly ProbeRequest[], environment: RouteParts["ownEnvironment"]): Promise<ProbeReport> =>
    probeAll(requests, { limitMs: LIMIT_MS, environment });
  const [native, session] = await Promise.all([
    here(
      probes.map((probe) => probe.native),
      ownEnvironment,
    ),
    inside === null
      ? null
      : fromInside(
          probes.map((probe) => probe.session),
          inside,
        ),
  ]);

  const failing = probes.filter((_probe, index) => session?.outcomes[index]?.status === "failed");
  const left = Math.max(500, ALL_MS - (clock.monotonic() - begun));
  const escalated =
    failing.length === 0 || inside === null || typeof inside === "string"
      ? null
      : await outside(failing, inside, left, here);

  return probes.map((probe, index) => {
    const own = native.outcomes[index] ?? NOT_SAID;
    const theirs = session === null ? null : (session.outcomes[index] ?? NOT_SAID);
    const again = escalated?.get(probe) ?? null;
    const there = typeof inside === "object" ? inside : null;
    const missingVariables = there === null ? [] : missing(probe.session, there, ownEnvironment);
    const finding = verdictOf({
      what: probe.layer,
      request: probe.session,
      native: own,
      session: theirs,
      escalated: again,
      grounds: {
        native: native.ground,
        session: session?.ground ?? null,
        isBoxed: there?.isBoxed ?? false,
        missingVariables,
      },
    });
    const routes: readonly RouteOutcome[] = [
      { route: "native", ...own },
      ...(theirs === null ? [] : [{ route: "session" as const, ...theirs }]),
      ...(again === null ? [] : [{ route: "escalated" as const, ...again }]),
    ];
    return { layer: probe.layer, ...finding, routes };
  });
}

const NOT_SAID: ProbeOutcome = { status: "untried", code: null, text: "nothing was said of it" };

interface InsideReport {
  readonly ground: ProbeReport["ground"] | null;
  readonly outcomes: readonly ProbeOutcome[];
}

async function fromInside(requests: readonly ProbeRequest[], inside: Inside | string): Promise<InsideReport> {
  if (typeof inside === "string") return untried(requests, inside);
  try {
    return await askInside(requests, inside.sandboxed, inside.environment, LIMIT_MS + START_MS);
  } catch (error) {
    return untriedBy(requests, error);
  }
}

/** The same requests without the sandbox; where there is none, from here with the session's environment. */
async function outside(
  failing: readonly Probe[],
  { unsandboxed, environment }: Inside,
  timeoutMs: number,
  here: (requests: readonly ProbeRequest[], environment: Inside["environment"]) => Promise<ProbeReport>,
): Promise<ReadonlyMap<Probe, ProbeOutcome>> {
  const requests = failing.map(({ session }) => session);
  const outcomes = await (unsandboxed === null
    ? here(requests, environment).then((report) => report.outcomes)
    : askInside(requests, unsandboxed, environment, timeoutMs).then(
        (report) => report.outcomes,
        (error: unknown) => untriedBy(requests, error).outcomes,
      ));
  return new Map(failing.flatMap((probe, index) => (outcomes[index] === undefined ? [] : [[probe, outcomes[index]]])));
}

async function askInside(
  requests: readonly ProbeRequest[],
  run: Inside["sandboxed"],
  environment: Inside["environment"],
  timeoutMs: number,
): Promise<InsideReport> {
  const answer = await run(`${JSON.stringify({ requests, limitMs: LIMIT_MS, environment })}\n`, timeoutMs);
  // Whoever answers may be hostile: what has not this form says nothing.
  const lines = answer.trim().split("\n");
  const report = parseFields(lines.findLast((line) => line.startsWith("{")) ?? "");
  const said = Array.isArray(report?.["outcomes"]) ? (report["outcomes"] as readonly unknown[]) : null;
  const ground = parseGround(report?.["ground"]);
  if (said === null || said.length !== requests.length || ground === null)
    return untried(
      requests,
      `nothing could be run there: ${lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1)}`,
    );
  return { ground, outcomes: said.map(parseOutcome) };
}

function parseGround(value: unknown): ProbeReport["ground"] | null {
  const { netNamespace, isFiltered } = (value ?? {}) as Record<string, unknown>;
  if (typeof isFiltered !== "boolean") return null;
  return { netNamespace: typeof netNamespace === "string" ? netNamespace : null, isFiltered };
}

function parseOutcome(value: unknown): ProbeOutcome {
  const { status, code, text } = (value ?? {}) as Record<string, unknown>;
  if ((status !== "reached" && status !== "failed" && status !== "untried") || typeof text !== "string")
    return NOT_SAID;
  return { status, code: typeof code === "string" ? code : null, text: text.slice(0, 500) };
}

function untried(requests: readonly ProbeRequest[], why: string, code: string | null = null): InsideReport {
  return { ground: null, outcomes: requests.map(() => ({ status: "untried", code, text: why })) };
}

function untriedBy(requests: readonly ProbeRequest[], error: unknown): InsideReport {
  const { why, lacks } = error instanceof ReeveError ? error.details : {};
  return untried(
    requests,
    typeof why === "string" ? why : messageOf(error),
    typeof lacks === "string" ? `no-${lacks}` : null,
  );
}

/** By which programs find their way to elsewhere. */
const NETWORK = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];
const PROGRAM = [
  ...NETWORK,
  "HOME",
  "XDG_CONFIG_HOME",
  "SSH_AUTH_SOCK",
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "GH_CONFIG_DIR",
  "GH_HOST",
];

function missing(
  { kind }: ProbeRequest,
  { environment }: Inside,
  own: RouteParts["ownEnvironment"],
): readonly string[] {
  const names = kind === "program" ? PROGRAM : kind === "http" ? NETWORK : [];
  return names.filter((name) => (own[name] ?? "") !== "" && (environment[name] ?? "") === "");
}
