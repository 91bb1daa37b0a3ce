/**
 * A Reeve of its own for one test: temporary home, private tmux socket, the
 * real CLI and daemon from dist/. `dispose` ends everything it started and
 * fails the test if anything of it is left.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Death } from "../../src/platform/daemon-record.ts";
import { deathsIn, readDaemonRecord } from "../../src/platform/daemon-record.ts";
import {
  isDead,
  listProcesses,
  readCommandLine,
  readEnvironmentVariable,
  sendSignal,
} from "../../src/platform/process-table.ts";
import { pathWithAgents } from "../agent-programs/agent-programs.ts";
import { cgroupsLeft, removeCgroups } from "./cgroup-leftovers.ts";
import { eventually } from "./eventually.ts";
import { daemonPidOf, endEverything, eventsOf, sessionsOf } from "./facts.ts";
import { readIfThere } from "./read-if-there.ts";
import { standsStill } from "./stands-still.ts";

const ROOT = join(import.meta.dirname, "..", "..");
/** Where the Node that Reeve runs on is: set REEVE_TEST_NODE_DIRECTORY to try another version. */
const NODE_DIRECTORY = process.env["REEVE_TEST_NODE_DIRECTORY"] ?? join(ROOT, "node_modules", ".bin");

/** Compiled code that the Node programs of all homes share: each home would have to compile it again. */
const COMPILED = join(ROOT, "node_modules", ".cache", "reeve-tests");

export interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface EventRow {
  readonly seq: number;
  readonly session_id: string | null;
  readonly caller: string | null;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

export interface SessionRow {
  readonly session_id: string;
  readonly name: string;
  readonly state: string;
  readonly desired: string;
  readonly liveness: string;
  readonly reason: string;
  readonly runtime: { readonly pid: number | null };
  readonly [field: string]: unknown;
}

export interface TestHome {
  readonly dir: string;
  readonly socketPath: string;
  readonly tmuxSocket: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs `reeve` to its end, whatever that is. */
  run(
    args: readonly string[],
    options?: {
      readonly input?: string | Buffer;
      readonly environment?: Readonly<Record<string, string>>;
      readonly cwd?: string;
      /** Of another build than this one. */
      readonly root?: string;
    },
  ): Promise<Result>;
  /** Runs `reeve … --json`, which must succeed; a wait must wake, for whatever reason. */
  json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T>;
  list(): Promise<readonly SessionRow[]>;
  session(name: string): Promise<SessionRow>;
  events(): Promise<readonly EventRow[]>;
  /** Those that somebody asked for: what Reeve does by itself, such as closing an item of the inbox, may come later. */
  wishes(): Promise<readonly EventRow[]>;
  /** Of the daemon that runs, started if need be. */
  daemonPid(): Promise<number>;
  killDaemon(): Promise<number>;
  /** Kills the daemon that runs now, if one does; none is started for it. */
  killRunningDaemon(): boolean;
  /** This daemon's death is the test's own doing; `dispose` fails for every other. */
  expectDeath(pid: number): void;
  /** The next daemon process kills itself when it passes this point, once. */
  failAt(point: string): void;
  isFailpointArmed(): boolean;
  /** Living processes that carry this home's mark, of one session or of all; in state T also what is frozen. */
  marked(sessionId?: string): readonly { readonly pid: number; readonly state: string; readonly incarnation: number }[];
  configure(toml: string): void;
  dispose(): Promise<void>;
}

/** `disk`: options of a small disk of its own for the home, as `mount -o` takes them; needs root. */
export function createTestHome({ disk }: { readonly disk?: string } = {}): TestHome {
  const dir = mkdtempSync(join(tmpdir(), "reeve-test-"));
  if (disk !== undefined) execFileSync("mount", ["-t", "tmpfs", "-o", `mode=0700,${disk}`, "tmpfs", dir]);
  const failpointFile = join(dir, "failpoint");
  const tmuxSocket = join(dir, "run", "tmux.sock");
  const environment = {
    PATH: `${NODE_DIRECTORY}:${pathWithAgents(process.env["PATH"] ?? "")}`,
    HOME: dir,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    REEVE_HOME: dir,
    REEVE_FAILPOINT_FILE: failpointFile,
    NODE_COMPILE_CACHE: COMPILED,
    PRACTICE_PACE_MS: "50",
  };

  /** Process ids of daemons that the test ended itself. */
  const expected = new Set<number>();

  const home: TestHome = {
    dir,
    socketPath: join(dir, "run", "reeve.sock"),
    tmuxSocket,
    environment,
    run: (args, options = {}) =>
      runProgram(
        join(options.root ?? ROOT, "bin", "reeve"),
        args,
        { ...environment, ...options.environment },
        options.input,
        options.cwd,
      ),
    async json<T>(...args: readonly string[]) {
      const separator = args.indexOf("--");
      const at = separator === -1 ? args.length : separator;
      const result = await home.run([...args.slice(0, at), "--json", ...args.slice(at)]);
      if (result.status !== 0 && !(args[0] === "wait" && isWake(result.status)))
        throw new Error(`reeve ${args.join(" ")} ended with ${result.status}: ${result.stdout}${result.stderr}`);
      return JSON.parse(result.stdout) as T;
    },
    async list() {
      return (await sessionsOf(home)) ?? (await home.json<{ sessions: SessionRow[] }>("list", "--all")).sessions;
    },
    async session(name) {
      const found = (await home.list()).filter((session) => session.name === name || session.session_id === name);
      if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} sessions are called ${name}`);
      return found[0];
    },
    async events() {
      return (await eventsOf(home)) ?? (await home.json<{ events: EventRow[] }>("events", "--since", "0")).events;
    },
    async wishes() {
      return (await home.events()).filter(({ caller }) => caller !== null);
    },
    async daemonPid() {
      return (await daemonPidOf(home)) ?? (await home.json<{ pid: number }>("daemon", "start")).pid;
    },
    async killDaemon() {
      const pid = await home.daemonPid();
      home.expectDeath(pid);
      process.kill(pid, "SIGKILL");
      await eventually("the daemon is gone", () => listProcesses().every((row) => row.pid !== pid || isDead(row)));
      return pid;
    },
    killRunningDaemon() {
      const { pid, startTicks } = readDaemonRecord(join(dir, "daemon.json")) ?? {};
      if (pid === undefined || startTicks === undefined) return false;
      home.expectDeath(pid);
      return sendSignal(pid, startTicks, "SIGKILL");
    },
    expectDeath: (pid) => void expected.add(pid),
    failAt: (point) => writeFileSync(failpointFile, point),
    isFailpointArmed: () => readIfThere(failpointFile) !== undefined,
    marked: (sessionId) => markedProcesses(dir, sessionId),
    configure: (toml) => writeFileSync(join(dir, "config.toml"), toml),
    async dispose() {
      rmSync(failpointFile, { force: true });
      try {
        const ended = await endAll(home);
        await runProgram("tmux", ["-S", tmuxSocket, "kill-server"], environment);
        const runDir = join(dir, "run");
        await eventually("nothing of the test is left", () => isNothingLeft(dir)).catch(async () => {
          const left = [...new Set([...markedProcesses(dir).map(({ pid }) => pid), ...processesNaming(dir)])];
          const described = [...left.map((pid) => `${pid} (${readCommandLine(pid)})`), ...cgroupsLeft(runDir)];
          for (const pid of left) process.kill(pid, "SIGKILL");
          await removeCgroups(runDir);
          throw new Error(`left behind: ${described.join(", ")}; end --all said: ${ended}`);
        });
        const unasked = deathsUnasked(dir, expected);
        if (unasked.length > 0) throw new Error(`a daemon died unasked: ${JSON.stringify(unasked)}`);
      } finally {
        if (disk !== undefined) execFileSync("umount", ["--lazy", dir]);
        rmSync(dir, { recursive: true, force: true });
      }
    },
  };
  return home;
}

/** Ends every session and the daemon; one that does not run is started for it, unless there is nothing to end. */
async function endAll(home: TestHome): Promise<string> {
  const answered = await endEverything(home);
  if (answered !== null) return answered;
  if (isNothingLeft(home.dir)) return "nothing";
  const { stdout, stderr } = await home.run(["end", "--all", "--when", "now", "--grace", "0"]);
  await home.run(["daemon", "stop"]);
  return `${stdout}${stderr}`;
}

function isNothingLeft(dir: string): boolean {
  const processes = [...markedProcesses(dir), ...processesNaming(dir)];
  return processes.length === 0 && cgroupsLeft(join(dir, "run")).length === 0;
}

/** Of the exit codes: what woke a wait, where that is no success. */
function isWake(status: number | null): boolean {
  return status !== null && status >= 10 && status <= 15;
}

export function runProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input?: string | Buffer,
  cwd?: string,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: environment, cwd, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input ?? "");
  });
}

function markedProcesses(dir: string, sessionId?: string): { pid: number; state: string; incarnation: number }[] {
  const instance = readIfThere(join(dir, "instance"))?.trim();
  if (instance === undefined) return [];
  const prefix = `${instance}.${sessionId === undefined ? "" : `${sessionId}.`}`;
  return listProcesses().flatMap((row) => {
    const mark = isDead(row) ? null : readEnvironmentVariable(row.pid, "REEVE_MARK");
    return mark?.startsWith(prefix) === true
      ? [{ pid: row.pid, state: standsStill(row.pid) ? "T" : row.state, incarnation: Number(mark.split(".")[2]) }]
      : [];
  });
}

/** Deaths of daemons, as their successors told them and as the last one left its own, that no test asked for. */
function deathsUnasked(dir: string, expected: ReadonlySet<number>): readonly Death[] {
  const fired = (readIfThere(join(dir, "failpoint.fired")) ?? "").split("\n").map((line) => Number.parseInt(line, 10));
  const asked = new Set([...expected, ...fired]);
  const left = readDaemonRecord(join(dir, "daemon.json"));
  const deaths = [...deathsToldIn(join(dir, "reeve.db")), ...(left === null ? [] : deathsIn(left))];
  return deaths.filter(({ pid }) => pid === null || !asked.has(pid));
}

/** None where there is no database, or where the test damaged it. */
function deathsToldIn(path: string): readonly Death[] {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const sql = "SELECT body FROM events WHERE json_extract(body, '$.type') = 'daemon-died'";
      return database
        .prepare(sql)
        .all()
        .map((row) => JSON.parse(String(row["body"])) as Death);
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

/** The daemon and the tmux server carry no mark, but they name the home. */
function processesNaming(dir: string): number[] {
  return listProcesses()
    .filter((row) => row.pid !== process.pid && !isDead(row))
    .filter(
      (row) =>
        readEnvironmentVariable(row.pid, "REEVE_HOME") === dir ||
        (readIfThere(`/proc/${row.pid}/cmdline`) ?? "").includes(`${dir}/`),
    )
    .map((row) => row.pid);
}
