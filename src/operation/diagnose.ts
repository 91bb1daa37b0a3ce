/**
 * Whether this installation can do its work: the runtime, and each agent's program, version, log-in and way of being
 * watched. With a session, which of the layers that it depends on is broken.
 */
import * as z from "zod/mini";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Agent, Login } from "../agent/contract.ts";
import type { Runtime } from "../runtime/contract.ts";
import { withFiles } from "../supervisor/launch/user-file.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Memories } from "../supervisor/memory/memories.ts";
import type { LaneView } from "../supervisor/notify/lane.ts";
import { isServiceAddress } from "../fleet/manifest-schema.ts";
import type { FoundService } from "../session/diagnosis/found-services.ts";
import { type Check, checkSchema, layerCheck, plainCheck } from "./check-view.ts";
import { defineOperation, type OperationContext } from "./contract.ts";
import { checkSession } from "./diagnose-session.ts";
import { environment, plainText, yesOrNo } from "./field.ts";
import { targetText } from "./list-notifications.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { plainLaunch } from "../session/plain-launch.ts";

const MOST_SERVICES = 32;
const SERVICE = "an address (http://, https://, or tcp:// with a port), or a name, = and an address";

export const diagnose = defineOperation({
  name: "diagnose",
  summary:
    "Check what Reeve needs: the terminal runtime, and for each agent whether it is installed, which version, whether it is logged in, and how it is watched. With a session: which layer is broken for it, tried by Reeve itself and from where the session lives.",
  method: "POST",
  path: "/v1/doctor",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { cwd: "/home/me/project", environment: { PATH: "/usr/bin:/bin", HOME: "/home/me" } },
  names: ["session"],
  input: () =>
    z.object({
      session: z
        .optional(sessionReference)
        .check(
          z.describe(
            "The session whose layers are checked, instead of the installation; in a session, its own by default.",
          ),
        ),
      services: z
        ._default(
          z
            .array(plainText().check(z.refine((given) => serviceOf(given) !== null, SERVICE)))
            .check(z.maxLength(MOST_SERVICES)),
          [],
        )
        .check(z.describe(`Services to try as well, each ${SERVICE}.`)),
      environment: z._default(environment, {}).check(
        z.meta({
          description: "Your environment: Reeve looks for agents on your PATH. It is not stored.",
          writeOnly: true,
        }),
      ),
      cwd: plainText().check(z.describe("The directory to look from.")),
    }),
  output: () =>
    z.object({
      healthy: yesOrNo("Whether no check found a problem."),
      checks: z.array(checkSchema).check(z.describe("What was checked, with the outcome of each.")),
    }),

  async run(input, context) {
    const { caller } = context;
    const services = input.services.flatMap((given) => serviceOf(given) ?? []);
    const name = input.session ?? (caller.kind === "session" ? caller.id : undefined);
    const checks =
      name === undefined
        ? await checkInstallation(input, services, context)
        : await checkSession(context, resolveSession(context.store.registry, name), services);
    return { healthy: checks.every((check) => check.status !== "problem"), checks: [...checks] };
  },
});

async function checkInstallation(
  input: { readonly environment: Readonly<Record<string, string | undefined>>; readonly cwd: string },
  services: readonly FoundService[],
  context: OperationContext,
): Promise<readonly Check[]> {
  const runtimes = context.supervisor.runtimes();
  const agents = context.supervisor.agents().filter((agent) => agent.program !== null);
  const [ofRuntimes, ofAgents, ofServices] = await Promise.all([
    Promise.all(runtimes.map(checkRuntime)),
    Promise.all(agents.map((agent) => checkAgent(context, agent, runtimes[0], input.environment, input.cwd))),
    context.supervisor.diagnosis.ofServices(services),
  ]);
  return [
    ...ofRuntimes.flat(),
    ...ofAgents,
    ...context.supervisor.notifications.views().flatMap(checkChannel),
    ...checkVectorStore(context.supervisor.memories.vectorStore()),
    ...context.daemon.warnings().map((detail) => plainCheck({ what: "daemon", status: "warning", detail })),
    ...ofServices.map((finding) => layerCheck(finding, false)),
  ];
}

/** `http://localhost:8000`, or `chroma=http://localhost:8000`. Null: it is none. */
function serviceOf(given: string): FoundService | null {
  const [, name, url = given] = /^([\w.-]+)=(.*)$/.exec(given) ?? [];
  return isServiceAddress(url) ? { name: name ?? new URL(url).host, url } : null;
}

async function checkRuntime(runtime: Runtime, index: number): Promise<readonly Check[]> {
  const what = runtime.kind;
  try {
    const version = await runtime.requireReady();
    const { reachable, evidence } = await runtime.list();
    const detail = reachable ? `${version}; ${evidence}` : evidence;
    const advice = reachable ? null : "Look at it with: reeve daemon status";
    const status = reachable ? "ok" : "problem";
    return [plainCheck({ what, status, detail, advice }), await checkEnds(runtime)];
  } catch (error) {
    const detail = messageOf(error);
    // The first is where sessions run unless they say otherwise; without any other nothing is amiss.
    const isMissing = index > 0 && error instanceof ReeveError && error.code === "engine-missing";
    if (isMissing) return [plainCheck({ what, status: "missing", detail })];
    return [plainCheck({ what, status: "problem", detail }), await checkEnds(runtime)];
  }
}

/** Only what fails is worth a line; `reeve notify list` has all of them. */
function checkChannel({ channel, failure, pending }: LaneView): readonly Check[] {
  if (failure === null) return [];
  const waiting = pending === 0 ? "" : `; ${pending} waiting`;
  return [
    plainCheck({
      what: `notify ${channel.name}`,
      status: "warning",
      detail: `notifications to ${targetText(channel)} fail: ${stripTerminal(failure.why)}${waiting}`,
      advice: `Fix it, then try: reeve notify test ${channel.name}`,
    }),
  ];
}

/** Without one in the settings there is nothing to say. */
function checkVectorStore(store: ReturnType<Memories["vectorStore"]>): readonly Check[] {
  if (store === null) return [];
  const what = "chroma";
  const waiting = store.waiting === 0 ? "it has every memory" : `${store.waiting} changes wait to be sent there`;
  if (store.failure === null) return [plainCheck({ what, status: "ok", detail: `${store.url} answers; ${waiting}` })];
  return [
    plainCheck({
      what,
      status: "warning",
      detail: `${store.url} cannot be used: ${stripTerminal(store.failure)}; ${waiting}. Memories are kept here and found by their words`,
      advice: "Start the Chroma server, or remove chroma from [memory] in config.toml",
    }),
  ];
}

/** How far the end of a session is proven on this machine. */
async function checkEnds(runtime: Runtime): Promise<Check> {
  const { isWhole, text } = await runtime.endProof();
  return plainCheck({ what: "ending", status: isWhole ? "ok" : "warning", detail: text });
}

async function checkAgent(
  { supervisor }: OperationContext,
  agent: Agent,
  runtime: Runtime | undefined,
  caller: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<Check> {
  const what = agent.name;
  try {
    if (runtime === undefined) throw new Error("there is no runtime that it could be started on");
    const { files } = runtime;
    const environment = supervisor.environment({ caller, envFile: null, given: {} });
    const names = ["PATH", "HOME", ...agent.pathVariables];
    const paths = Object.fromEntries(
      names.flatMap((name) => (name in environment ? [[name, environment[name] ?? ""]] : [])),
    );
    const program = await supervisor.programs.find(agent, files, { paths, cwd });
    const launch = plainLaunch(cwd, { paths });
    const { plan } = await supervisor.plan({
      agent: agent.name,
      runtime: runtime.kind,
      sessionId: "doctor",
      outputsDir: "/nonexistent/doctor",
      launch,
      beginning: { resume: null, prompt: null },
    });
    const version = program?.version ?? "unknown version";
    const { readLogin } = agent;
    const login =
      readLogin === undefined ? null : await withFiles(files, (read) => readLogin({ environment, launch, read }));
    const isOut = login?.status === "logged-out";
    const said = login === null ? "" : `; ${LOGIN_WORDS[login.status]} (${login.text})`;
    return plainCheck({
      what,
      status: isOut ? "warning" : "ok",
      detail: `${version} at ${program?.path ?? "?"}${said}; watched by ${plan.mode.name}: ${plan.mode.text}`,
      advice: isOut ? `Log in with: ${agent.program?.login ?? agent.name}` : null,
      login: login?.status ?? null,
    });
  } catch (error) {
    const isMissing = error instanceof ReeveError && error.code === "agent-not-installed";
    return plainCheck({
      what,
      status: isMissing ? "missing" : "problem",
      detail: messageOf(error),
      advice: isMissing ? (agent.program?.install ?? null) : null,
    });
  }
}

const LOGIN_WORDS = {
  "logged-in": "logged in",
  "logged-out": "not logged in",
  unknown: "log-in unknown",
} as const satisfies Record<Login["status"], string>;
