/**
 * Asks an agent how to start, with everything that it needs to know. A first
 * start and a restart use the same code.
 */
import type { Agent, LaunchPlan } from "../../agent/contract.ts";
import type { McpServer } from "../../agent/mcp-server.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { PlannedWatch } from "../../session/input.ts";
import { spoolDirOf } from "../../session/session-directory.ts";
import type { Launch } from "../../session/session.ts";
import type { Beginning } from "./conversation.ts";
import type { ProgramFinder } from "./program-finder.ts";
import type { AgentOptions } from "./settings.ts";
import { withFiles } from "./user-file.ts";

export interface LaunchRequest {
  readonly agent: string;
  readonly runtime: string;
  readonly sessionId: string;
  readonly outputsDir: string;
  readonly launch: Launch;
  readonly beginning: Beginning;
}

export interface PlannedLaunch {
  readonly plan: LaunchPlan;
  /** What of the plan goes into the record. */
  readonly recorded: PlannedWatch;
  /** Its agent keeps conversations, and goes on with none. */
  readonly isAnew: boolean;
}

export type Launcher = (request: LaunchRequest) => Promise<PlannedLaunch>;

export function createLauncher(parts: {
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Runtime;
  readonly options: (agent: string) => AgentOptions;
  readonly programs: ProgramFinder;
  readonly socketDir: string;
  /** For agents that can be given one. */
  readonly mcp: McpServer;
  /** Rejects when it could be started but not watched. */
  readonly requireRules: (agent: string) => Promise<void>;
  /** Throws what is wrong with the settings that it would be started with. */
  readonly requireConfigured: (agent: Agent) => void;
}): Launcher {
  return async ({ agent: name, runtime, sessionId, outputsDir, launch, beginning }) => {
    const agent = parts.agent(name);
    parts.requireConfigured(agent);
    await parts.requireRules(name);
    const { files } = parts.runtime(runtime);
    const { settings, mcp } = parts.options(name);
    const program = await parts.programs.find(agent, files, launch);
    const plan = await withFiles(files, (read) =>
      agent.plan({
        sessionId,
        launch,
        ...beginning,
        sessionDir: outputsDir,
        spoolDir: spoolDirOf(outputsDir),
        socketDir: parts.socketDir,
        program,
        settings,
        mcp: mcp && launch.mcp ? parts.mcp : null,
        read,
      }),
    );
    const { nativeId, transcriptPath, observabilityReason, mode } = plan;
    const watch = {
      mode: mode.name,
      text: mode.text,
      version: program?.version ?? null,
      socket: plan.channel?.socket ?? null,
      statusDir: plan.statusDir,
    };
    const isAnew = agent.capabilities.transcript && beginning.resume === null;
    return { plan, recorded: { watch, nativeId, transcriptPath, observabilityReason }, isAnew };
  };
}
