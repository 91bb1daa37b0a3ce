/**
 * The daemon: the composition root, and the only importer of concrete
 * runtimes and agents. It may be killed at any line; sessions live outside it
 * and are found again. daemon-main.ts starts it.
 */
import { readFileSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { claudeAgent } from "./agent/claude/claude-agent.ts";
import { codexAgent } from "./agent/codex/codex-agent.ts";
import { commandAgent } from "./agent/command/command-agent.ts";
import { declaredAgent, declaredRules, hasPatterns } from "./agent/command/declared-agent.ts";
import { geminiAgent } from "./agent/gemini/gemini-agent.ts";
import { practiceAgent } from "./agent/practice/practice-agent.ts";
import { FOREIGN_VARIABLES } from "./agent/session-variables.ts";
import { operations } from "./operation/operations.ts";
import { systemClock } from "./platform/clock.ts";
import { failpoint } from "./platform/failpoint.ts";
import type { Home } from "./platform/home.ts";
import { openLog } from "./platform/log.ts";
import { ensurePrivateDir } from "./platform/private-dir.ts";
import { errnoOf, messageOf } from "./platform/reeve-error.ts";
import { lingerWarning } from "./runtime/tmux/systemd.ts";
import { createTmuxRuntime } from "./runtime/tmux/tmux-runtime.ts";
import { openStore } from "./store/open-store.ts";
import { createRuleBook } from "./supervisor/rule-book.ts";
import { readSettings } from "./supervisor/settings.ts";
import { createSupervisor } from "./supervisor/supervisor.ts";
import { createHttpServer } from "./surface/http/server.ts";

/** Reeve's own: what tells a session which one it is, and what steers the daemon in tests. */
const OWN_VARIABLES = ["REEVE_MARK", "REEVE_SESSION_ID", "REEVE_FAILPOINT_FILE", "REEVE_READY_FD"];

/** Well after whoever started the daemon has had an answer. */
const VERIFY_AFTER_MS = 500;

export async function run(home: Home): Promise<void> {
  const log = openLog(home.logPath);
  const clock = systemClock;
  const version = readVersion();
  ensurePrivateDir(home.outputsDir);
  const store = await openStore({
    databasePath: home.databasePath,
    outputsRoot: home.outputsDir,
    instancePath: home.instancePath,
    clock,
    log,
    verifyAfterMs: VERIFY_AFTER_MS,
  });
  const tmux = createTmuxRuntime({ instance: store.instance, runDir: home.runDir, clock, log });
  const settings = readSettings(home.configPath);
  const nodePath = process.execPath;
  const builtIn = [
    commandAgent,
    practiceAgent(programBeside("practice", "program"), nodePath),
    codexAgent({ bootstrapPath: programBeside("codex", "bootstrap"), nodePath }),
    claudeAgent,
    geminiAgent,
  ];
  const declared = Object.entries(settings.agents).filter(([name]) => !builtIn.some((agent) => agent.name === name));
  const agents = [
    ...builtIn,
    ...declared.map(([name, { command, settings }]) => declaredAgent(name, command, settings)),
  ];
  const watchedByPatterns = declared.filter(([, { settings }]) => hasPatterns(settings));
  const rules = createRuleBook({
    shippedDir: join(import.meta.dirname, "..", "rules"),
    usersDir: join(dirname(home.configPath), "rules"),
    declared: new Map(watchedByPatterns.map(([name, { settings }]) => [name, () => declaredRules(name, settings)])),
    log,
  });
  const scrub = [
    ...OWN_VARIABLES,
    ...Object.values(FOREIGN_VARIABLES).flat(),
    ...agents.flatMap((agent) => agent.sessionVariables),
  ];
  const supervisor = createSupervisor({
    store,
    runtimes: [tmux],
    agents,
    rules,
    socketDir: home.runDir,
    settings,
    clock,
    log,
    ownEnvironment: process.env,
    scrub,
  });
  await supervisor.boot(version);

  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    server.close();
    unlinkIfThere(home.socketPath);
    void shutDown();
  };
  const shutDown = async (): Promise<void> => {
    try {
      await supervisor.close();
      await tmux.close();
      await store.close();
    } catch (error) {
      log("the daemon could not stop cleanly", { why: messageOf(error) });
    }
    process.exit(0);
  };
  const warnings = (): readonly string[] =>
    [lingerWarning(), ...rules.problems()].filter((warning) => warning !== null);
  const daemon = { version, startedAt: clock.now(), warnings, stop: () => void setImmediate(stop) };
  const server = createHttpServer({
    operations,
    context: { store, supervisor, clock, outputsDir: home.outputsDir, daemon },
    log,
  });
  unlinkIfThere(home.socketPath);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    process.umask(0o177);
    server.listen(home.socketPath, resolve);
    process.umask(0o077);
  });
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => undefined);
  process.on("unhandledRejection", (error) =>
    log("unhandled", { why: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
  failpoint("daemon.started");
  // Says at once, not with the first session, which patterns of config.toml cannot be used.
  for (const [name] of watchedByPatterns) void rules.of(name);
}

function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed && typeof parsed.version === "string"
    ? parsed.version
    : "unknown";
}

/** A program of an adapter's own, beside this file: bundled as codex-bootstrap.js, or the source itself in development. */
function programBeside(agent: string, name: string): string {
  return import.meta.filename.endsWith(".ts")
    ? join(import.meta.dirname, "agent", agent, `${name}.ts`)
    : join(import.meta.dirname, `${agent}-${name}.js`);
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
