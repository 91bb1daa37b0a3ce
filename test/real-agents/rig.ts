/**
 * One real agent under a real Reeve: a home of its own for both, the scripted
 * model behind the agent, a directory to work in. Everything of the agent's is
 * below the test's home, so that what it leaves behind is found.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDead, listProcesses, readCommandLine, readEnvironmentVariable } from "../../src/platform/process-table.ts";
import type { ClaudeHomeOptions, CodexHomeOptions } from "../scripted-model/agent-homes.ts";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import type { RecordedRequest } from "../scripted-model/record.ts";
import { startScriptedModel, type ScriptedModel, type ScriptedModelOptions } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import type { EventRow, Result, SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

export interface AgentCase {
  readonly title: string;
  readonly agent: "codex" | "claude" | "gemini";
  /** Added to config.toml. */
  readonly config: string;
  /** Given to the agent at each start, so that errors of the model end a turn soon and commands are asked for. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Errors of the model are not the end of a turn: it asks again and again, without a word (docs/spec/agent-behaviors). */
  readonly retriesForever: boolean;
}

export const CASES = {
  claude: {
    title: "claude",
    agent: "claude",
    config: "",
    args: [],
    environment: { CLAUDE_CODE_MAX_RETRIES: "1" },
    retriesForever: false,
  },
  gemini: { title: "gemini", agent: "gemini", config: "", args: [], environment: {}, retriesForever: true },
  codexAppServer: {
    title: "codex with its app-server",
    agent: "codex",
    config: '[agent.codex]\nmode = "app-server"\n',
    args: [
      "-c",
      "model_providers.scripted.request_max_retries=1",
      "-c",
      "model_providers.scripted.stream_max_retries=1",
    ],
    environment: {},
    retriesForever: false,
  },
  codexHooks: {
    title: "codex with hooks",
    agent: "codex",
    config: '[agent.codex]\nmode = "hooks"\n',
    args: [
      "-c",
      "model_providers.scripted.request_max_retries=1",
      "-c",
      "model_providers.scripted.stream_max_retries=1",
    ],
    environment: {},
    retriesForever: false,
  },
} as const satisfies Record<string, AgentCase>;

export interface Data {
  readonly source: "transcript" | "screen";
  readonly text?: string;
  readonly messages?: readonly { readonly role: string; readonly text: string }[];
  readonly session: SessionRow & {
    readonly observability: {
      readonly status: string;
      readonly expected: boolean;
      readonly reason: string;
      readonly native_id: string | null;
      readonly transcript_path: string | null;
    };
  };
  readonly note: string;
}

export interface Waited {
  readonly done: boolean;
  readonly reason: string;
  readonly cursor: number;
  readonly session: SessionRow & { readonly activity: string; readonly asks: string | null };
}

export interface StartOptions {
  /** For the agent itself, after the case's own. */
  readonly args?: readonly string[];
  /** Options of `reeve start`. */
  readonly options?: readonly string[];
  readonly cwd?: string;
  readonly user?: AgentUser;
  /** On top of the user's. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A user's HOME, with the whole environment in which the agent is started there. */
export interface AgentUser {
  readonly dir: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Rig {
  readonly home: TestHome;
  readonly model: ScriptedModel;
  readonly workDir: string;
  /** The one whom `start` starts for: logged in, and trusts workDir. */
  readonly user: AgentUser;
  /** Another one, of the same Reeve. */
  addUser(name: string, options: ClaudeHomeOptions): Promise<AgentUser>;
  /** Starts the agent; returns the session's row as the answer gave it. */
  start(prompt: string | null, options?: StartOptions): Promise<SessionRow>;
  /** The same, whatever comes of it. */
  tryStart(prompt: string | null, options?: StartOptions): Promise<Result>;
  /** From the user's own terminal, whose environment the agent needs where the runtime lost it. */
  restart(session: string): Promise<void>;
  data(session: string): Promise<Data>;
  /** Waits for the next reason after the cursor (or from now). */
  wait(session: string, ...args: readonly string[]): Promise<Waited>;
  /** Where the log is now. */
  cursor(session: string): Promise<string>;
  events(session: string): Promise<readonly EventRow[]>;
  /** What the model was asked by the agent itself, not by its helpers. */
  asked(): readonly RecordedRequest[];
  dispose(): Promise<void>;
}

export interface RigOptions {
  /** Added to config.toml. */
  readonly config?: string;
  readonly agentHome?: ClaudeHomeOptions & CodexHomeOptions;
  readonly model?: ScriptedModelOptions;
}

export async function createRig(agentCase: AgentCase, options: RigOptions = {}): Promise<Rig> {
  const home = createTestHome();
  const model = await startScriptedModel(options.model);
  const workDir = join(home.dir, "work");
  mkdirSync(workDir);
  home.configure(`${options.config ?? ""}\n${agentCase.config}`);
  const user = await addUser("agent-home", { trust: [workDir], ...options.agentHome });

  async function addUser(name: string, homeOptions: ClaudeHomeOptions & CodexHomeOptions): Promise<AgentUser> {
    const dir = join(home.dir, name);
    mkdirSync(dir);
    const prepare = { codex: codexHome, claude: claudeHome, gemini: geminiHome }[agentCase.agent];
    const { environment } = await prepare(dir, model.url, homeOptions);
    if (agentCase.agent === "codex") askBefore(dir, "touch");
    return { dir, environment: { ...environment, ...agentCase.environment, PATH: home.environment["PATH"] ?? "" } };
  }

  function tryStart(prompt: string | null, start: StartOptions = {}): Promise<Result> {
    const { args = [], options: words = [], cwd = workDir, environment = {} } = start;
    const whose = (start.user ?? user).environment;
    const line = ["start", agentCase.agent, ...(prompt === null ? [] : [prompt]), "--cwd", cwd, ...words, "--json"];
    return home.run([...line, "--", ...agentCase.args, ...args], { environment: { ...whose, ...environment } });
  }

  return {
    home,
    model,
    workDir,
    user,
    addUser,
    tryStart,
    async start(prompt, start = {}) {
      const result = await tryStart(prompt, start);
      if (result.status !== 0) throw new Error(`start ended with ${result.status}: ${result.stdout}${result.stderr}`);
      return JSON.parse(result.stdout) as SessionRow;
    },
    async restart(session) {
      const result = await home.run(["restart", session, "--json"], { environment: user.environment });
      if (result.status !== 0) throw new Error(`restart ended with ${result.status}: ${result.stdout}${result.stderr}`);
    },
    data: (session) => home.json<Data>("data", session),
    async wait(session, ...args) {
      const result = await home.run(["wait", session, "--json", "--timeout", "90", ...args]);
      return JSON.parse(result.stdout) as Waited;
    },
    async cursor(session) {
      const result = await home.run(["wait", session, "--json", "--timeout", "0", "--for", "stalled"]);
      return String((JSON.parse(result.stdout) as Waited).cursor);
    },
    async events(session) {
      return (await home.events()).filter((event) => event.session_id === session);
    },
    asked: () => model.requests({ hidden: false }),
    async dispose() {
      try {
        await home.dispose();
      } finally {
        await model.close();
      }
    },
  };
}

/** What a person writes who wants Codex to ask about a command. */
function askBefore(agentHome: string, command: string): void {
  const rules = join(agentHome, ".codex", "rules");
  mkdirSync(rules, { recursive: true });
  writeFileSync(join(rules, "default.rules"), `prefix_rule(pattern=["${command}"], decision="prompt")\n`);
}

/** Disposes, and proves that no process is left that ran for one of its users: a daemon in the background has no mark. */
export async function disposeWhole(rig: Pick<Rig, "home" | "dispose">): Promise<void> {
  await rig.dispose();
  const below = `${rig.home.dir}/`;
  const left = (): readonly number[] =>
    listProcesses()
      .filter((row) => !isDead(row) && readEnvironmentVariable(row.pid, "HOME")?.startsWith(below) === true)
      .map((row) => row.pid);
  await eventually("no process of the agent is left", () => left().length === 0).catch(() => {
    const pids = left();
    const described = pids.map((pid) => `${pid} (${readCommandLine(pid)})`);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    throw new Error(`left behind: ${described.join(", ")}`);
  });
}
