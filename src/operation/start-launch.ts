/**
 * What a start runs: where, with which environment and which program. Throws
 * what is wrong with the request; nothing is recorded or made here, so a
 * manifest is checked with it before anything starts.
 */
import { resolve } from "node:path";
import type { Agent } from "../agent/contract.ts";
import { requireExecutableSize } from "../platform/exec-size.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { SessionFiles, SessionPrograms } from "../runtime/session-files.ts";
import type { Container } from "../session/container.ts";
import { requireTypeable } from "../session/message-text.ts";
import type { Launch } from "../session/session.ts";
import { containerEnvironment } from "../supervisor/launch/container-environment.ts";
import { chosenPersistence } from "../supervisor/launch/chosen-persistence.ts";
import type { Environment } from "../supervisor/launch/environment.ts";
import type { PlannedLaunch } from "../supervisor/launch/launcher.ts";
import { wantsProxy } from "../supervisor/launch/wants-proxy.ts";
import type { OperationContext } from "./contract.ts";
import { existingDirectory } from "./existing-directory.ts";
import { requireReady } from "./require-ready.ts";
import { chosenRuntime, containerOf, requireCarrier, requireUpstreams } from "./start-container.ts";

export interface LaunchRequest {
  readonly agent: string;
  readonly args: readonly string[];
  readonly prompt?: string | undefined;
  readonly model?: string | undefined;
  readonly runtime?: string | undefined;
  readonly mcp: boolean;
  readonly env: Environment;
  readonly env_file?: string | undefined;
  readonly key_files: Readonly<Record<string, string>>;
  readonly role?: string | undefined;
  readonly image?: string | undefined;
  readonly memory?: string | undefined;
  readonly cpus?: number | undefined;
  readonly pids?: number | undefined;
  readonly network?: Container["network"] | undefined;
  readonly mounts?: readonly string[] | undefined;
  readonly persist_session?: boolean | undefined;
  readonly capture?: "native" | "proxy" | undefined;
  readonly debug_log?: string | undefined;
}

export interface PreparedLaunch {
  readonly runtime: string;
  readonly agent: Agent;
  readonly files: SessionFiles;
  /** Where its programs are looked for. */
  readonly programs: SessionPrograms;
  readonly launch: Launch;
  readonly environment: Environment;
}

export async function prepareLaunch(
  context: OperationContext,
  input: LaunchRequest,
  where: {
    readonly cwd: string;
    readonly brought: Readonly<Record<string, string | undefined>>;
    /** Where its files will be. */
    readonly sessionDir: string;
  },
): Promise<PreparedLaunch> {
  const { supervisor } = context;
  const runtime = chosenRuntime(context, input);
  supervisor.requireStartable(input.agent, runtime);
  await requireReady(supervisor.runtime(runtime));
  const agent = supervisor.agent(input.agent);
  if (input.prompt !== undefined) requireTypeable(input.prompt);
  const { files } = supervisor.runtime(runtime);
  const cwd = await existingDirectory(files, where.cwd);
  const { container, programs, path } = await containerOf(context, supervisor.runtime(runtime), input, cwd);
  const envFile = input.env_file === undefined ? null : resolve(cwd, input.env_file);
  const keyFiles = Object.fromEntries(
    Object.entries(input.key_files).map(([name, path]) => [name, resolve(cwd, path)] as const),
  );
  const environment = supervisor.environment({ caller: where.brought, envFile, keyFiles, given: input.env });
  const persistence = chosenPersistence(input, agent, {
    settings: supervisor.settings,
    sessionDir: where.sessionDir,
    network: container?.network ?? null,
  });
  if (container !== null && wantsProxy({ persistence, container })) {
    requireUpstreams(context, input.agent, agent, container);
    await requireCarrier(programs, container.image, { cwd, path });
  }
  const way = container?.network === "proxy" ? "proxy" : (persistence?.capture ?? "none");
  const captureVariables = way === "none" ? [] : (agent.captureVariables?.[way] ?? []);
  const launch: Launch = {
    args: input.args,
    prompt: input.prompt ?? null,
    model: input.model ?? null,
    cwd,
    envFile,
    envNames: Object.keys(input.env),
    keyFiles,
    persistence,
    container,
    mcp: input.mcp,
    paths: {
      ...pick(environment, ["PATH", "HOME", ...agent.pathVariables, ...captureVariables]),
      ...(path === null || "PATH" in input.env ? {} : { PATH: path }),
    },
  };
  return { runtime, agent, files, programs, launch, environment };
}

/** That there is such a program, and that what it would be given can be given to one. */
export async function requireExecutable(
  { programs, launch, environment }: Pick<PreparedLaunch, "programs" | "launch" | "environment">,
  { plan, loginVariables }: Pick<PlannedLaunch, "plan" | "loginVariables">,
): Promise<void> {
  const { cwd, paths, container } = launch;
  const inside = container === null ? environment : containerEnvironment(environment, launch, loginVariables);
  const variables = { ...inside, ...plan.environment };
  // An agent may be given its arguments by a script, which starts it with them all the same.
  for (const argv of [plan.argv, launch.args]) requireExecutableSize({ argv, environment: variables });
  const command = plan.argv[0] ?? "";
  if ((await programs.findProgram(command, { cwd, path: paths["PATH"] })) !== null) return;
  throw new ReeveError({
    code: "command-not-found",
    kind: "usage",
    message:
      container === null
        ? `There is no program "${command}" to run; check the spelling, or give its full path.`
        : `There is no program "${command}" in the image ${container.image}; check the spelling, or use an image that has it.`,
  });
}

function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (name in environment ? [[name, environment[name] ?? ""]] : [])));
}
