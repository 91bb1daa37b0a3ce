/** Asks an agent how to start, with all it needs to know; the same for a first start and for a restart. */
import { join } from "node:path";
import type { Agent, LaunchPlan } from "../../agent/contract.ts";
import { readPlainFile } from "../../platform/own-file.ts";
import type { PlannedWatch } from "../../session/input.ts";
import type { Launch } from "../../session/session.ts";
import type { Beginning } from "./conversation.ts";
import type { ProgramFinder } from "./program-finder.ts";
import type { AgentOptions } from "./settings.ts";

export interface LaunchRequest {
  readonly agent: string;
  readonly sessionId: string;
  readonly outputsDir: string;
  readonly launch: Launch;
  readonly beginning: Beginning;
}

export interface PlannedLaunch {
  readonly plan: LaunchPlan;
  /** What of the plan goes into the record. */
  readonly recorded: PlannedWatch;
}

export type Launcher = (request: LaunchRequest) => Promise<PlannedLaunch>;

/** Larger ones are not what an agent keeps its settings in. */
const LARGEST_FILE_BYTES = 1_048_576;

export function createLauncher(parts: {
  readonly agent: (name: string) => Agent;
  readonly options: (agent: string) => AgentOptions;
  readonly programs: ProgramFinder;
  readonly socketDir: string;
  /** Rejects when it could be started but not watched. */
  readonly requireRules: (agent: string) => Promise<void>;
  /** Throws what is wrong with the settings that it would be started with. */
  readonly requireConfigured: (agent: Agent) => void;
}): Launcher {
  return async ({ agent: name, sessionId, outputsDir, launch, beginning }) => {
    const agent = parts.agent(name);
    parts.requireConfigured(agent);
    await parts.requireRules(name);
    const program = await parts.programs.find(agent, launch.paths, launch.cwd);
    const plan = agent.plan({
      sessionId,
      launch,
      ...beginning,
      sessionDir: outputsDir,
      spoolDir: spoolDirOf(outputsDir),
      socketDir: parts.socketDir,
      program,
      settings: parts.options(name).settings,
      read: readSmall,
    });
    const { nativeId, transcriptPath, observabilityReason, mode } = plan;
    const watch = {
      mode: mode.name,
      text: mode.text,
      version: program?.version ?? null,
      socket: plan.channel?.socket ?? null,
      statusDir: plan.statusDir,
    };
    return { plan, recorded: { watch, nativeId, transcriptPath, observabilityReason } };
  };
}

/** Where an agent's hooks leave their records. */
export function spoolDirOf(outputsDir: string): string {
  return join(outputsDir, "spool");
}

/** The text of a small file of the user's, or null where there is none. */
export function readSmall(path: string): string | null {
  try {
    return readPlainFile(path, LARGEST_FILE_BYTES);
  } catch {
    return null;
  }
}
