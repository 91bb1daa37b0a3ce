/**
 * Podman's socket that speaks as a Docker Engine does, of the test's own: `podman system service` from this machine's
 * package, with socket, images and containers in a temporary directory. It has the session image. Set up for machines
 * without systemd: cgroups by itself, runc, few open files.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findExecutable } from "../../src/platform/executable.ts";
import { call, type DockerEngine, endAll, isGone, mayMount, removeContainers, upload } from "./docker-engine.ts";
import { eventually } from "./eventually.ts";
import { killIfThere } from "./kill.ts";
import { readIfThere } from "./read-if-there.ts";
import { SESSION_IMAGE, sessionImageArchive } from "./session-image.ts";

const WHERE = { cwd: "/", path: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` };
/** Podman asks for one where a container is to have a first process that reaps; Docker's does as well. */
const INITS = ["/usr/libexec/podman/catatonit", "/usr/bin/catatonit", "/usr/bin/docker-init", "/usr/sbin/docker-init"];

/** Why Podman cannot run here; null where it can. */
export function podmanImpediment(): string | null {
  if (process.getuid?.() !== 0) return "a Podman of the test's own needs root";
  for (const program of ["podman", "conmon", "runc"])
    if (findExecutable(program, WHERE) === null)
      return `there is no ${program}; script/setup.sh --for-tests installs Debian's podman`;
  if (initPath() === undefined) return "there is neither catatonit nor docker-init for a container's first process";
  return mayMount() ? null : "this machine does not let even root mount anything, which Podman must";
}

export async function startPodmanEngine(): Promise<DockerEngine> {
  const dir = mkdtempSync("/tmp/rpd-");
  const socket = join(dir, "e.sock");
  const containersConf = join(dir, "containers.conf");
  const storageConf = join(dir, "storage.conf");
  writeFileSync(containersConf, settings(dir));
  const where = `runroot = "${dir}/run"\ngraphroot = "${dir}/data"\n`;
  writeFileSync(storageConf, `[storage]\ndriver = "overlay"\n${where}`);
  const environment = {
    ...process.env,
    PATH: WHERE.path,
    CONTAINERS_CONF: containersConf,
    CONTAINERS_STORAGE_CONF: storageConf,
    TMPDIR: dir,
  };
  let service: ChildProcess | null = null;

  const engine: DockerEngine = {
    socket,
    host: `unix://${socket}`,
    call: (method, path, body) => call(socket, method, path, body),
    async importImage(archive, image, changes = []) {
      const [repo = "", tag = "latest"] = image.split(":");
      const query = new URLSearchParams({ fromSrc: "-", repo });
      for (const change of changes) query.append("changes", change);
      await upload(socket, archive, `/images/create?${query.toString()}`);
      // 4.3 takes no notice of the tag in an import.
      await engine.call("POST", `/images/${repo}:latest/tag?repo=${repo}&tag=${tag}`);
    },
    loadImage: (archive) => upload(socket, archive, "/images/load?quiet=1"),
    async start() {
      const log = openSync(join(dir, "log"), "a");
      const args = ["--tmpdir", join(dir, "tmp"), "system", "service", "--time=0", `unix://${socket}`];
      service = spawn("podman", args, { stdio: ["ignore", log, log], detached: true, cwd: dir, env: environment });
      closeSync(log);
      const isUp = (): Promise<boolean> => {
        if (service?.exitCode !== null)
          throw new Error(`podman ended: ${readIfThere(join(dir, "log"))?.slice(-2_000) ?? ""}`);
        return call(socket, "GET", "/_ping").then(
          ({ status }) => status === 200,
          () => false,
        );
      };
      await eventually("Podman answers", isUp, 60_000);
    },
    async kill() {
      const pid = service?.pid ?? 0;
      killIfThere(pid);
      await eventually("Podman's service is gone", () => isGone(pid));
    },
    hang: () => void process.kill(service?.pid ?? 0, "SIGSTOP"),
    goOn: () => void process.kill(service?.pid ?? 0, "SIGCONT"),
    async dispose() {
      try {
        if (service !== null && !isGone(service.pid ?? 0)) {
          engine.goOn();
          await removeContainers(engine);
          await engine.kill();
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

function initPath(): string | undefined {
  return INITS.find((path) => existsSync(path));
}

function settings(dir: string): string {
  return `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
init_path = "${initPath() ?? ""}"
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${dir}/tmp"
[network]
network_config_dir = "${dir}/net"
`;
}
