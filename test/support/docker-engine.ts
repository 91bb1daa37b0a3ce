/**
 * A Docker Engine of the test's own: dockerd from this machine's package, with socket, data and pidfile in a temporary
 * directory, without bridge or iptables. It has the session image. `dispose` ends it and everything of it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { openSync, closeSync, createReadStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { findExecutable } from "../../src/platform/executable.ts";
import { isAlive, isDead, listProcesses, readCommandLine, readProcess } from "../../src/platform/process-table.ts";
import { eventually } from "./eventually.ts";
import { killIfThere } from "./kill.ts";
import { readIfThere } from "./read-if-there.ts";
import { SESSION_IMAGE, sessionImageArchive } from "./session-image.ts";

/** Why no engine can run here; null where one can. */
export function engineImpediment(): string | null {
  if (process.getuid?.() !== 0) return "a Docker Engine of the test's own needs root";
  const where = { cwd: "/", path: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` };
  if (findExecutable("dockerd", where) === null)
    return "there is no dockerd; script/setup.sh --for-tests installs Debian's docker.io";
  return mayMount() ? null : "this machine does not let even root mount anything, which an engine must";
}

export function mayMount(): boolean {
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface DockerEngine {
  readonly socket: string;
  /** As DOCKER_HOST has it. */
  readonly host: string;
  /** One call of its API; what it answers, parsed where that is JSON. */
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Makes an image of a tar archive of files, with what a Dockerfile would say of it, such as "ENV A=b". */
  importImage(archive: string, image: string, changes?: readonly string[]): Promise<void>;
  /** Takes in an archive as `docker save` makes them. */
  loadImage(archive: string): Promise<void>;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** kill -9 of dockerd and of its containerd, as when the machine's service crashes. */
  kill(): Promise<void>;
  /** Stopped and continued by signal: it takes connections and answers nothing. */
  hang(): void;
  goOn(): void;
  dispose(): Promise<void>;
}

/** Sockets have short paths, and containerd's are deep. */
const BASE = "/tmp/rdk-";

export async function startDockerEngine({ liveRestore }: { readonly liveRestore: boolean }): Promise<DockerEngine> {
  const dir = mkdtempSync(BASE);
  const socket = join(dir, "e.sock");
  const pidFile = join(dir, "pid");
  const containerdPid = join(dir, "x", "containerd", "containerd.pid");
  let dockerd: ChildProcess | null = null;

  const engine: DockerEngine = {
    socket,
    host: `unix://${socket}`,
    call: (method, path, body) => call(socket, method, path, body),
    importImage(archive, image, changes = []) {
      const [repo = "", tag = "latest"] = image.split(":");
      const query = new URLSearchParams({ fromSrc: "-", repo, tag });
      for (const change of changes) query.append("changes", change);
      return upload(socket, archive, `/images/create?${query.toString()}`);
    },
    loadImage: (archive) => upload(socket, archive, "/images/load?quiet=1"),
    async start() {
      const log = openSync(join(dir, "log"), "a");
      const where = ["--host", `unix://${socket}`, "--data-root", join(dir, "data"), "--exec-root", join(dir, "x")];
      const how = [
        "--pidfile",
        pidFile,
        "--iptables=false",
        "--bridge=none",
        ...(liveRestore ? ["--live-restore"] : []),
      ];
      dockerd = spawn("dockerd", [...where, ...how], {
        stdio: ["ignore", log, log],
        detached: true,
        env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
      });
      closeSync(log);
      await eventually("the engine answers", () => isAnswering(dir, socket, dockerd), 60_000);
    },
    async kill() {
      const pids = [dockerd?.pid ?? 0, pidIn(containerdPid)].filter((pid) => pid > 0);
      pids.forEach(killIfThere);
      await eventually("the engine is gone", () => pids.every(isGone));
      rmSync(containerdPid, { force: true });
      rmSync(pidFile, { force: true });
    },
    hang: () => void process.kill(dockerd?.pid ?? 0, "SIGSTOP"),
    goOn: () => void process.kill(dockerd?.pid ?? 0, "SIGCONT"),
    async dispose() {
      try {
        if (dockerd !== null && !isGone(dockerd.pid ?? 0)) {
          engine.goOn();
          await removeContainers(engine);
          process.kill(dockerd.pid ?? 0, "SIGTERM");
          await eventually("the engine ended", () => isGone(dockerd?.pid ?? 0), 30_000);
        }
      } finally {
        await endAll(dir);
      }
    },
  };
  await engine.start();
  await engine.importImage(sessionImageArchive(), SESSION_IMAGE);
  return engine;
}

async function isAnswering(dir: string, socket: string, dockerd: ChildProcess | null): Promise<boolean> {
  if (dockerd?.exitCode !== null)
    throw new Error(`dockerd ended: ${readIfThere(join(dir, "log"))?.slice(-2_000) ?? ""}`);
  return await call(socket, "GET", "/_ping").then(
    ({ status }) => status === 200,
    () => false,
  );
}

export async function removeContainers(engine: DockerEngine): Promise<void> {
  const { body } = await engine.call("GET", "/containers/json?all=1");
  for (const { Id } of body as readonly { Id: string }[]) await engine.call("DELETE", `/containers/${Id}?force=1&v=1`);
}

/** What a killed engine left: shims, their containers, and mounts. All of it names the directory. */
export async function endAll(dir: string): Promise<void> {
  await eventually("nothing of the engine is left", () => {
    const left = listProcesses().filter((row) => !isDead(row) && readCommandLine(row.pid).includes(`${dir}/`));
    for (const { pid } of left) {
      for (const child of listProcesses()) if (child.ppid === pid) killIfThere(child.pid);
      killIfThere(pid);
    }
    return left.length === 0;
  });
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "");
  for (const mount of mounts.filter((path) => path.startsWith(`${dir}/`)).toReversed())
    execFileSync("umount", ["--lazy", mount]);
  rmSync(dir, { recursive: true, force: true });
}

export function isGone(pid: number): boolean {
  const row = readProcess(pid);
  return row === null || !isAlive(pid, row.startTicks);
}

function pidIn(file: string): number {
  return Number(readIfThere(file)?.trim() ?? 0);
}

export function upload(socket: string, archive: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/x-tar" };
    const sending = request({ socketPath: socket, method: "POST", path, headers });
    sending.once("error", reject);
    sending.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.once("end", () => (text.includes("error") ? reject(new Error(`no image: ${text}`)) : resolve()));
    });
    createReadStream(archive).once("error", reject).pipe(sending);
  });
}

export function call(
  socket: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const sending = request({ socketPath: socket, method, path, headers, timeout: 30_000 });
    sending.once("timeout", () => sending.destroy(new Error(`${method} ${path}: no answer`)));
    sending.once("error", reject);
    sending.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: parsed(text) }));
    });
    sending.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
