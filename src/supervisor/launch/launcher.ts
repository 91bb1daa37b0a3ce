/**
 * Asks an agent how to start, with everything that it needs to know. A first
 * start and a restart use the same code.
 */
import type { Agent, CaptureContext, LaunchPlan } from "../../agent/contract.ts";
import type { McpServer } from "../../agent/mcp-server.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { SessionPrograms } from "../../runtime/session-files.ts";
import type { Mount } from "../../session/container.ts";
import type { PlannedWatch } from "../../session/input.ts";
import { homeDirOf, nativeDirOf, spoolDirOf } from "../../session/session-directory.ts";
import type { Launch } from "../../session/session.ts";
import type { Beginning } from "./conversation.ts";
import { homeInside, launchInside } from "./home-inside.ts";
import type { ProgramFinder } from "./program-finder.ts";
import type { AgentOptions } from "./settings.ts";
import { declaredUpstreams, variableOf, withUpstreams } from "./upstreams.ts";
import { withFiles } from "./user-file.ts";
import { wantsProxy } from "./wants-proxy.ts";

export interface LaunchRequest {
  readonly agent: string;
  readonly runtime: string;
  readonly sessionId: string;
  /** Missing where nothing is started. */
  readonly role?: string;
  readonly outputsDir: string;
  readonly launch: Launch;
  readonly beginning: Beginning;
}

export interface PlannedLaunch {
  readonly plan: LaunchPlan;
  /** What of the plan goes into the record. */
  readonly recorded: PlannedWatch;
  /** What its container has of the user's files. */
  readonly mounts: readonly Mount[];
  /** Variables of the user's that its container has as well: those by which it logs in. */
  readonly loginVariables: readonly string[];
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
  /** Where the capture proxy serves an upstream of this session. */
  readonly captureAddress: (sessionId: string, upstream: string) => string;
  /** What the user declared for sessions that have no other way out. */
  readonly upstreams: () => Readonly<Record<string, string>>;
  /** Whether it is to be reminded to remember. */
  readonly isReminded: (whose: { readonly agent: string; readonly role: string }) => boolean;
  /** Rejects when it could be started but not watched. */
  readonly requireRules: (agent: string) => Promise<void>;
  /** Throws what is wrong with the settings that it would be started with. */
  readonly requireConfigured: (agent: Agent) => void;
}): Launcher {
  return async ({ agent: name, runtime, sessionId, role, outputsDir, launch, beginning }) => {
    const agent = parts.agent(name);
    parts.requireConfigured(agent);
    await parts.requireRules(name);
    const { files, programsIn } = parts.runtime(runtime);
    const { settings, mcp } = parts.options(name);
    const program = await parts.programs.find(agent, (await programsOf(programsIn, launch)) ?? files, launch);
    const home = await homeInside(files, launch, outputsDir, agent);
    const isReminded = role !== undefined && parts.isReminded({ agent: name, role });
    const plan = await withFiles(files, (read) =>
      agent.plan({
        sessionId,
        launch: launchInside(launch, outputsDir, agent),
        ...beginning,
        sessionDir: outputsDir,
        spoolDir: spoolDirOf(outputsDir),
        socketDir: parts.socketDir,
        program,
        settings,
        // In a container there is neither Reeve nor its socket.
        mcp: mcp && launch.mcp && launch.container === null ? parts.mcp : null,
        ...(isReminded ? { reminds: true } : {}),
        capture: captureOf(launch, outputsDir, (upstream) => parts.captureAddress(sessionId, upstream)),
        read: (path) => read(home.outside(path)),
      }),
    );
    const declared = declaredUpstreams(launch, parts.upstreams());
    const capture = withUpstreams(name, launch, plan.capture ?? null, declared);
    const addresses = Object.keys(declared).map((upstream) => [
      variableOf(upstream),
      parts.captureAddress(sessionId, upstream),
    ]);
    const { nativeId, transcriptPath, observabilityReason, mode } = plan;
    const watch = {
      mode: mode.name,
      text: `${mode.text}${reminderNote(isReminded, plan)}`,
      version: program?.version ?? null,
      socket: plan.channel?.socket ?? null,
      statusDir: plan.statusDir,
      capture,
    };
    const isAnew = agent.capabilities.transcript && beginning.resume === null;
    const inside = launch.container === null || agent.homeParts === undefined ? {} : { HOME: homeDirOf(outputsDir) };
    const environment = {
      ...plan.environment,
      ...inside,
      ...(Object.fromEntries(addresses) as Record<string, string>),
    };
    return {
      plan: { ...plan, environment, files: [...home.files, ...plan.files] },
      mounts: home.mounts,
      recorded: { watch, nativeId, transcriptPath, observabilityReason },
      loginVariables: launch.container === null ? [] : await withFiles(files, loginVariablesOf(agent, launch)),
      isAnew,
    };
  };
}

/** For `explain`, behind how it is watched. */
function reminderNote(isAsked: boolean, { reminds }: LaunchPlan): string {
  if (!isAsked) return "";
  return reminds === true
    ? " When a turn ends in which it remembered nothing, its own hook reminds it, once (memory_reminder)."
    : " It is not reminded to remember (memory_reminder): that needs an agent with hooks and Reeve's MCP server, which this session does not have.";
}

/** As the user's own files say, not those that the session has of them: it could have any variable of the user's then. */
function loginVariablesOf({ loginVariables }: Pick<Agent, "loginVariables">, launch: Launch) {
  return (read: (path: string) => string | null): readonly string[] => loginVariables?.({ launch, read }) ?? [];
}

/** Those of its image; null where it has none. */
async function programsOf(programsIn: Runtime["programsIn"], { container }: Launch): Promise<SessionPrograms | null> {
  return container === null ? null : ((await programsIn?.(container.image)) ?? null);
}

function captureOf(launch: Launch, outputsDir: string, baseUrl: (upstream: string) => string): CaptureContext | null {
  const { persistence } = launch;
  const how = wantsProxy(launch) ? "proxy" : (persistence?.capture ?? "none");
  if (how === "none") return null;
  const debugLog = persistence?.debugLog ?? null;
  return { how, nativeDir: nativeDirOf(outputsDir), baseUrl: how === "proxy" ? baseUrl : null, debugLog };
}
