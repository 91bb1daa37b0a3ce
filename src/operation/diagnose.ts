/** Whether this installation can do its work: the runtimes, and each agent's program, version and way of being watched. */
import * as z from "zod/mini";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Agent } from "../agent/contract.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";

const checkSchema = z.object({
  what: z.string(),
  status: z.enum(["ok", "missing", "warning", "problem"]),
  detail: z.string(),
  /** What to do about it. */
  advice: z.nullable(z.string()),
});

export const diagnose = defineOperation({
  name: "diagnose",
  summary:
    "Check what Reeve needs: the terminal runtime, and for each agent whether it is installed, which version, and how it is watched.",
  method: "POST",
  path: "/v1/doctor",
  effect: "read",
  callers: ["operator"],
  input: z.object({
    /** The caller's environment: agents are looked for where the caller would find them. */
    environment: z._default(z.record(z.string(), z.optional(z.string())), {}),
    cwd: z.string(),
  }),
  output: z.object({ healthy: z.boolean(), checks: z.array(checkSchema) }),

  async run(input, context) {
    const agents = context.supervisor.agents().filter((agent) => agent.program !== null);
    const checks = [
      await checkRuntime(context),
      checkEnds(context),
      ...(await Promise.all(agents.map((agent) => checkAgent(context, agent, input.environment, input.cwd)))),
      ...context.daemon.warnings().map((detail) => ({
        what: "daemon",
        status: "warning" as const,
        detail,
        advice: null,
      })),
    ];
    return { healthy: checks.every((check) => check.status !== "problem"), checks };
  },
});

async function checkRuntime({ supervisor }: OperationContext): Promise<z.infer<typeof checkSchema>> {
  const listing = await supervisor.runtime("tmux").list();
  return {
    what: "tmux",
    status: listing.reachable ? "ok" : "problem",
    detail: listing.evidence,
    advice: listing.reachable ? null : "Look at it with: reeve daemon status",
  };
}

/** How far the end of a session is proven on this machine. */
function checkEnds({ supervisor }: OperationContext): z.infer<typeof checkSchema> {
  const blindSpot = supervisor.runtime("tmux").blindSpot();
  if (blindSpot === null) {
    const detail = "Each session has a cgroup of its own: the kernel proves that nothing of it is left.";
    return { what: "ending", status: "ok", detail, advice: null };
  }
  return {
    what: "ending",
    status: "warning",
    detail: `Reeve finds what belongs to a session by its mark in the environment of each process. A process that removes the mark can outlive its session unseen, because there is no cgroup here: ${blindSpot}.`,
    advice: null,
  };
}

async function checkAgent(
  { supervisor }: OperationContext,
  agent: Agent,
  caller: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<z.infer<typeof checkSchema>> {
  const what = agent.name;
  try {
    const environment = supervisor.environment({ caller, envFile: null, given: {} });
    const names = ["PATH", "HOME", ...agent.pathVariables];
    const paths = Object.fromEntries(
      names.flatMap((name) => (name in environment ? [[name, environment[name] ?? ""]] : [])),
    );
    const program = await supervisor.programs.find(agent, paths, cwd);
    const launch = { args: [], prompt: null, model: null, cwd, envFile: null, envNames: [], paths };
    const { plan } = await supervisor.plan({
      agent: agent.name,
      sessionId: "doctor",
      outputsDir: "/nonexistent/doctor",
      launch,
      beginning: { resume: null, prompt: null },
    });
    const version = program?.version ?? "unknown version";
    return {
      what,
      status: "ok",
      detail: `${version} at ${program?.path ?? "?"}; watched by ${plan.mode.name}: ${plan.mode.text}`,
      advice: null,
    };
  } catch (error) {
    const isMissing = error instanceof ReeveError && error.code === "agent-not-installed";
    return {
      what,
      status: isMissing ? "missing" : "problem",
      detail: messageOf(error),
      advice: isMissing ? (agent.program?.install ?? null) : null,
    };
  }
}
