/** Whether this installation can do its work: the runtime, and each agent's program, version, log-in and way of being watched. */
import * as z from "zod/mini";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Agent, Login } from "../agent/contract.ts";
import type { Runtime } from "../runtime/contract.ts";
import { withFiles } from "../supervisor/launch/user-file.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { environment, plainText, text, textOrNull, yesOrNo } from "./field.ts";

const checkSchema = z.object({
  what: text("What was checked: a runtime, `ending`, an agent, or the daemon."),
  status: z
    .enum(["ok", "missing", "warning", "problem"])
    .check(
      z.describe("missing: an agent that is not installed, which is fine if you do not use it. problem: fix it first."),
    ),
  detail: text("What was found."),
  advice: textOrNull("What to do about it; null where nothing needs to be done or nothing is known."),
  login: z
    .nullable(z.enum(["logged-in", "logged-out", "unknown"]))
    .check(
      z.describe(
        "Of an agent: whether you are logged in, as far as its files and variables tell. Its vendor is not asked.",
      ),
    ),
});
type Check = z.infer<typeof checkSchema>;

export const diagnose = defineOperation({
  name: "diagnose",
  summary:
    "Check what Reeve needs: the terminal runtime, and for each agent whether it is installed, which version, whether it is logged in, and how it is watched.",
  method: "POST",
  path: "/v1/doctor",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: { cwd: "/home/me/project", environment: { PATH: "/usr/bin:/bin", HOME: "/home/me" } },
  names: [],
  input: z.object({
    environment: z._default(environment, {}).check(
      z.meta({
        description: "Your environment: Reeve looks for agents on your PATH. It is not stored.",
        writeOnly: true,
      }),
    ),
    cwd: plainText().check(z.describe("The directory to look from.")),
  }),
  output: z.object({
    healthy: yesOrNo("Whether no check found a problem."),
    checks: z.array(checkSchema).check(z.describe("What was checked, with the outcome of each.")),
  }),

  async run(input, context) {
    const runtimes = context.supervisor.runtimes();
    const agents = context.supervisor.agents().filter((agent) => agent.program !== null);
    const checks = [
      ...(await Promise.all(runtimes.map(checkRuntime))),
      ...(await Promise.all(runtimes.map(checkEnds))),
      ...(await Promise.all(
        agents.map((agent) => checkAgent(context, agent, runtimes[0], input.environment, input.cwd)),
      )),
      ...context.daemon.warnings().map((detail) => ({
        what: "daemon",
        status: "warning" as const,
        detail,
        advice: null,
        login: null,
      })),
    ];
    return { healthy: checks.every((check) => check.status !== "problem"), checks };
  },
});

async function checkRuntime(runtime: Runtime): Promise<Check> {
  const check = { what: runtime.kind, login: null };
  try {
    const version = await runtime.requireReady();
    const { reachable, evidence } = await runtime.list();
    if (reachable) return { ...check, status: "ok", detail: `${version}; ${evidence}`, advice: null };
    return { ...check, status: "problem", detail: evidence, advice: "Look at it with: reeve daemon status" };
  } catch (error) {
    return { ...check, status: "problem", detail: messageOf(error), advice: null };
  }
}

/** How far the end of a session is proven on this machine. */
async function checkEnds(runtime: Runtime): Promise<Check> {
  const { isWhole, text } = await runtime.endProof();
  return { what: "ending", status: isWhole ? "ok" : "warning", detail: text, advice: null, login: null };
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
    const launch = { args: [], prompt: null, model: null, cwd, envFile: null, envNames: [], mcp: true, paths };
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
    return {
      what,
      status: isOut ? "warning" : "ok",
      detail: `${version} at ${program?.path ?? "?"}${said}; watched by ${plan.mode.name}: ${plan.mode.text}`,
      advice: isOut ? `Log in with: ${agent.program?.login ?? agent.name}` : null,
      login: login?.status ?? null,
    };
  } catch (error) {
    const isMissing = error instanceof ReeveError && error.code === "agent-not-installed";
    return {
      what,
      status: isMissing ? "missing" : "problem",
      detail: messageOf(error),
      advice: isMissing ? (agent.program?.install ?? null) : null,
      login: null,
    };
  }
}

const LOGIN_WORDS = {
  "logged-in": "logged in",
  "logged-out": "not logged in",
  unknown: "log-in unknown",
} as const satisfies Record<Login["status"], string>;
