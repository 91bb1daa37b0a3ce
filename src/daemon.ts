/**
 * The daemon: the composition root, and the only importer of concrete runtimes
 * and agents. It may be killed at any line: sessions run outside it, and the
 * next daemon finds them again. daemon-main.ts starts it.
 */
import { dirname, join } from "node:path";
import { claudeAgent } from "./agent/claude/claude-agent.ts";
import { codexAgent } from "./agent/codex/codex-agent.ts";
import { commandAgent } from "./agent/command/command-agent.ts";
import { declaredAgent, declaredRules, hasPatterns } from "./agent/command/declared-agent.ts";
import { geminiAgent } from "./agent/gemini/gemini-agent.ts";
import { practiceAgent } from "./agent/practice/practice-agent.ts";
import type { Agent } from "./agent/contract.ts";
import type { McpServer } from "./agent/mcp-server.ts";
import { FOREIGN_VARIABLES } from "./agent/session-variables.ts";
import type { ApprovalRule } from "./fleet/approval-rule.ts";
import { createDoor } from "./operation/door.ts";
import { operations } from "./operation/operations.ts";
import { passHolderIn } from "./operation/pass-holder.ts";
import { systemClock } from "./platform/clock.ts";
import { collectAtRest } from "./platform/collect-at-rest.ts";
import { reserveDescriptors } from "./platform/descriptors.ts";
import { failpoint } from "./platform/failpoint.ts";
import type { Home } from "./platform/home.ts";
import type { Death } from "./platform/daemon-record.ts";
import type { Log } from "./platform/log.ts";
import { onSetAside } from "./platform/own-file.ts";
import { PASS_VARIABLE, SOCKET_VARIABLE } from "./platform/pass.ts";
import { ensurePrivateDir } from "./platform/private-dir.ts";
import { messageOf, ReeveError } from "./platform/reeve-error.ts";
import { lingerWarning } from "./runtime/tmux/systemd.ts";
import type { Runtime } from "./runtime/contract.ts";
import { createDockerRuntime } from "./runtime/docker/docker-runtime.ts";
import type { ImageWorkshop } from "./runtime/images.ts";
import { inertRuntime } from "./runtime/inert-runtime.ts";
import { createTmuxRuntime, type TmuxRuntimeOptions } from "./runtime/tmux/tmux-runtime.ts";
import { createIndexProcess } from "./search/index-process.ts";
import { createMemoryStore } from "./memory/memory-store.ts";
import { openStore } from "./store/open-store.ts";
import { compileRules } from "./supervisor/launch/approval-rules.ts";
import { openCaptureRecord } from "./supervisor/capture/capture-record.ts";
import { createRuleBook } from "./supervisor/launch/rule-book.ts";
import { configProblem, defaultSettings, readSettings } from "./supervisor/launch/settings.ts";
import type { AgentOptions, Settings } from "./supervisor/launch/settings.ts";
import { placeIn } from "./supervisor/ledger/target.ts";
import { createSupervisor } from "./supervisor/supervisor.ts";
import { listen, removeSocket } from "./surface/http/listen.ts";
import { createHttpServer } from "./surface/http/server.ts";

/** Reeve's own: what tells a session which one it is, and what steers the daemon in tests. */
const OWN_VARIABLES = [
  "REEVE_MARK",
  "REEVE_SESSION_ID",
  PASS_VARIABLE,
  SOCKET_VARIABLE,
  "REEVE_FAILPOINT_FILE",
  "REEVE_READY_FD",
];

/** By which `reeve mcp` knows whose it is, finds the daemon, and is found. */
const SERVER_VARIABLES = [
  "REEVE_MARK",
  "REEVE_SESSION_ID",
  PASS_VARIABLE,
  SOCKET_VARIABLE,
  "REEVE_HOME",
  "XDG_STATE_HOME",
  "XDG_DATA_HOME",
  "XDG_CONFIG_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_CACHE_HOME",
];

/** Well after whoever started the daemon has had an answer. */
const VERIFY_AFTER_MS = 500;

export interface DaemonLife {
  readonly version: string;
  /** Daemons before this one that did not stop in order. */
  readonly deaths: readonly Death[];
  readonly log: Log;
  /** Their deaths are in the log. */
  readonly onTold: () => void;
  /** It stops in order. */
  readonly onStopped: () => void;
  /** It stops, but not in order. */
  readonly onDied: (error: string) => void;
}

/** The last few are enough to find the rest. */
const MOST_SET_ASIDES = 20;

/** Where sessions may live, the one that is used unless another is asked for first. */
export type OpenRuntimes = (
  options: TmuxRuntimeOptions,
  docker: { readonly host: string | null; readonly outputsDir: string },
) => readonly Runtime[];

const openAll: OpenRuntimes = (options, docker) => [createTmuxRuntime(options), openDocker(options, docker)];

/** An address that cannot be used concerns nobody who runs nothing there. */
function openDocker(
  { instance, clock, log, runDir }: TmuxRuntimeOptions,
  { host, outputsDir }: Parameters<OpenRuntimes>[1],
): Runtime {
  try {
    const attachProgram = programOf("docker-attach", join("runtime", "docker", "attach-program.ts"));
    return createDockerRuntime({
      outputsDir,
      instance,
      host,
      environment: process.env,
      clock,
      log,
      attachProgram,
      gitDir: join(runDir, "git"),
    });
  } catch (error) {
    if (!(error instanceof ReeveError) || error.kind !== "config") throw error;
    return inertRuntime("docker", error.message);
  }
}

export async function run(
  home: Home,
  { version, deaths, log, onTold, onStopped, onDied }: DaemonLife,
  openRuntimes = openAll,
): Promise<void> {
  reserveDescriptors();
  const setAsides: string[] = [];
  onSetAside((path, target) => {
    const notice = `${path} was not a plain file of yours and was moved to ${target}. Look at it, then delete it.`;
    log("something that is not a file of Reeve's was moved aside", { path, target });
    setAsides.push(notice);
    if (setAsides.length > MOST_SET_ASIDES) setAsides.shift();
  });
  const clock = systemClock;
  ensurePrivateDir(home.outputsDir);
  const store = await openStore({
    databasePath: home.databasePath,
    outputsRoot: home.outputsDir,
    instancePath: home.instancePath,
    clock,
    log,
    verifyAfterMs: VERIFY_AFTER_MS,
  });
  const nodePath = process.execPath;
  const builtIn = [
    commandAgent,
    practiceAgent(programBeside("practice", "program"), nodePath),
    codexAgent({ bootstrapPath: programBeside("codex", "bootstrap"), nodePath }),
    claudeAgent,
    geminiAgent,
  ];
  const { settings, approvalRules, declared, patterns, problem } = await readConfig(
    home.configPath,
    builtIn.map((agent) => agent.name),
  );
  if (problem !== null) log("config.toml is not used", { why: problem });
  const { cgroups } = settings;
  const runtimes = openRuntimes(
    {
      instance: store.instance,
      runDir: home.runDir,
      clock,
      log,
      cgroups,
      recordedPlace: (target) => placeIn(store.registry, target),
      besideProgram: programOf("run-beside", join("runtime", "tmux", "beside-program.ts")),
    },
    { host: settings.docker.host, outputsDir: home.outputsDir },
  );
  // While the records are read, which keeps this process busy for as long as there are many, a runtime can be reached.
  for (const runtime of runtimes) runtime.anticipate?.();
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const agents = [...builtIn, ...declared];
  const rules = createRuleBook({
    shippedDir: join(import.meta.dirname, "..", "rules"),
    usersDir: join(dirname(home.configPath), "rules"),
    declared: new Map(patterns.map(([name, table]) => [name, () => declaredRules(name, table.settings)])),
    log,
  });
  const scrub = [
    ...OWN_VARIABLES,
    ...Object.values(FOREIGN_VARIABLES).flat(),
    ...agents.flatMap((agent) => agent.sessionVariables),
  ];
  const memories = createMemoryStore(home.memoryPath, (warning) => log(warning, { path: home.memoryPath }));
  const supervisor = createSupervisor({
    store,
    memories,
    index: createIndexProcess(home.searchPath, clock),
    runtimes,
    agents,
    rules,
    configProblem: problem,
    socketDir: home.runDir,
    socketOfSessions: home.sessionSocketPath,
    outputsRoot: home.outputsDir,
    directories: [home.outputsDir, dirname(home.databasePath)],
    settings,
    approvalRules,
    capture: {
      record: openCaptureRecord(home.capture.recordPath),
      doorsDir: home.capture.doorsDir,
      program: {
        command: [nodePath, captureProxy()],
        controlPath: home.capture.socketPath,
        stderrPath: home.capture.stderrPath,
      },
    },
    mcp: mcpServer(nodePath),
    probeProgram: programOf("probe-program", "probe-program.ts"),
    clock,
    log,
    ownEnvironment: process.env,
    scrub,
  });
  await supervisor.boot(version, deaths);
  onTold();

  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void shutDown();
  };
  const shutDown = async (): Promise<void> => {
    try {
      for (const [server, path] of servers) {
        server.close();
        removeSocket(path);
      }
      await supervisor.close();
      memories.close();
      await Promise.all(runtimes.map((runtime) => runtime.close()));
      await store.close();
      onStopped();
    } catch (error) {
      log("the daemon could not stop cleanly", { why: messageOf(error) });
      onDied(`it could not stop cleanly: ${messageOf(error)}`);
    }
    process.exit(0);
  };
  const warnings = (): readonly string[] =>
    [
      problem?.message ?? null,
      deathWarning(deaths),
      lingerWarning(),
      ...store.warnings(),
      ...setAsides,
      ...rules.problems(),
      ...supervisor.memories.warnings(),
    ].filter((warning) => warning !== null);
  /** What no session was ever on keeps nothing running, and need not be there to say so. */
  const isUsed = ({ kind }: Runtime, index: number): boolean =>
    index === 0 || store.registry.all().some(({ identity }) => identity.runtime === kind);
  const daemon = {
    version,
    socketPath: home.socketPath,
    startedAt: clock.now(),
    warnings,
    stop: () => void setImmediate(stop),
    retireRuntimes: async () => void (await Promise.all(runtimes.filter(isUsed).map((runtime) => runtime.retire()))),
  };
  const door = createDoor({
    store,
    supervisor,
    clock,
    outputsDir: home.outputsDir,
    daemon,
    images: imageWorkshop(version, settings.docker.host),
    log,
  });
  const holderOf = passHolderIn(store.registry);
  const serve = (needsPass: boolean) =>
    createHttpServer({ operations, door, needsPass, holderOf, unreadMail: supervisor.mail.unread, version, log });
  const servers = [
    [serve(true), home.sessionSocketPath],
    [serve(false), home.socketPath],
  ] as const;
  for (const [server, path] of servers) {
    await listen(server, path);
    // Out of descriptors, it cannot take a connection.
    server.on("error", (error) => log("a socket met an error", { path, why: error }));
  }
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => undefined);
  collectAtRest(clock);
  failpoint("daemon.started");
  setImmediate(supervisor.watchFound);
  // Says at once, not with the first session, which patterns of config.toml cannot be used.
  for (const [name] of patterns)
    rules.of(name).catch((error: unknown) => log("rules could not be read", { name, why: error }));
}

/** A daemon that was killed is its user's business; one that died of an error is Reeve's. */
function deathWarning(deaths: readonly Death[]): string | null {
  const death = deaths.findLast(({ error }) => error !== null);
  if (death === undefined) return null;
  const why = death.error?.split("\n", 1)[0];
  return `The daemon before this one (process ${death.pid ?? "unknown"}) died of an error: ${why}. Please report it, with daemon.log.`;
}

interface Config {
  readonly settings: Settings;
  readonly approvalRules: readonly ApprovalRule[];
  /** The agents that only config.toml knows. */
  readonly declared: readonly Agent[];
  /** The tables of those that are watched by patterns. */
  readonly patterns: readonly (readonly [string, AgentOptions])[];
  readonly problem: ReeveError | null;
}

/** A file that is not right counts for nothing, but must not keep anyone from listing and ending sessions. */
async function readConfig(path: string, builtIn: readonly string[]): Promise<Config> {
  try {
    const settings = readSettings(path);
    const tables = Object.entries(settings.agents).filter(([name]) => !builtIn.includes(name));
    return {
      settings,
      approvalRules: await readyRules(path, settings),
      declared: tables.map(([name, table]) => declaredAgent(name, table.command, table.settings)),
      patterns: tables.filter(([, table]) => hasPatterns(table.settings)),
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.kind !== "config") throw error;
    return { settings: defaultSettings, approvalRules: [], declared: [], patterns: [], problem: error };
  }
}

async function readyRules(path: string, { approvalRules }: Settings): Promise<readonly ApprovalRule[]> {
  try {
    return await compileRules(approvalRules);
  } catch (error) {
    throw configProblem(path, error);
  }
}

/** This Reeve's own launcher, on the Node that runs it. */
function mcpServer(nodePath: string): McpServer {
  const launcher = join(import.meta.dirname, "..", "bin", "reeve");
  const isForSessions = ({ callers, effect }: (typeof operations)[number]): boolean =>
    effect === "read" && callers.session !== "none";
  return {
    command: [nodePath, launcher, "mcp"],
    variables: SERVER_VARIABLES,
    readOnlyTools: operations.filter(isForSessions).map(({ name }) => name),
  };
}

/** Few ever build an image: what it takes is loaded then. */
function imageWorkshop(reeveVersion: string, host: string | null): ImageWorkshop {
  const directory = join(import.meta.dirname, "..", "image");
  const workshop = async (): Promise<ImageWorkshop> => {
    const { createImageWorkshop } = await import("./runtime/docker/image-workshop.ts");
    return createImageWorkshop({ directory, reeveVersion, host, environment: process.env });
  };
  return {
    build: async (request, tell, signal) => await (await workshop()).build(request, tell, signal),
    list: async () => await (await workshop()).list(),
  };
}

/** A program of an adapter's own, beside this file: bundled as codex-bootstrap.js, or the source itself in development. */
function programBeside(agent: string, name: string): string {
  return programOf(`${agent}-${name}`, join("agent", agent, `${name}.ts`));
}

function programOf(bundle: string, source: string): string {
  return join(import.meta.dirname, import.meta.filename.endsWith(".ts") ? source : `${bundle}.js`);
}

/** Bundled as capture-proxy.js, or the source itself in development. */
function captureProxy(): string {
  const here = import.meta.dirname;
  return import.meta.filename.endsWith(".ts") ? join(here, "capture-proxy-main.ts") : join(here, "capture-proxy.js");
}
