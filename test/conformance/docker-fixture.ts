/** A Docker runtime over an engine of the test's own, with a home of its own for each test, and how to end all of it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import { readProcess } from "../../src/platform/process-table.ts";
import type { ContainerRequest, Runtime } from "../../src/runtime/contract.ts";
import { createDockerRuntime } from "../../src/runtime/docker/docker-runtime.ts";
import type { DockerEngine } from "../support/docker-engine.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { SESSION_IMAGE } from "../support/session-image.ts";
import { markedProcesses } from "./local-ground.ts";
import type { RuntimeFixture } from "./runtime-ground.ts";

export interface DockerFixture extends RuntimeFixture {
  readonly engine: DockerEngine;
  /** Ids of this home's containers, whatever their state. */
  containers(): Promise<readonly string[]>;
}

export const CONTAINER: ContainerRequest = {
  image: SESSION_IMAGE,
  cpus: null,
  memoryBytes: 268_435_456,
  pids: 200,
  network: "none",
  mounts: [],
  role: "tester",
  shared: [],
};

const ATTACH = join(import.meta.dirname, "..", "..", "src", "runtime", "docker", "attach-program.ts");
let count = 0;

export async function makeDockerFixture(engine: DockerEngine): Promise<DockerFixture> {
  const base = mkdtempSync(join(tmpdir(), "reeve-"));
  const workDir = join(base, "work");
  mkdirSync(workDir, { mode: 0o700 });
  const instance = `d${process.pid}-${(count += 1)}`;
  const opened: Runtime[] = [];
  const open = (): Runtime => {
    const about = {
      instance,
      outputsDir: base,
      gitDir: join(base, "git"),
      host: engine.host,
      environment: {},
      clock: systemClock,
      attachProgram: ATTACH,
    };
    const runtime = createDockerRuntime({ ...about, log: () => {} });
    opened.push(runtime);
    return runtime;
  };
  const containers = async (): Promise<readonly string[]> => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`dev.reeve.home=${instance}`] }));
    const { body } = await engine.call("GET", `/containers/json?all=1&filters=${filters}`);
    return (body as readonly { readonly Id: string }[]).map(({ Id }) => Id);
  };
  return {
    runtime: open(),
    instance,
    workDir,
    engine,
    containers,
    defaults: { container: CONTAINER },
    // Half a second each, and a tmux server of its own.
    share: 0.2,
    reopen: open,
    census() {
      const pids = markedProcesses(instance);
      return { living: pids.length, still: pids.filter(isFrozen).length };
    },
    named: (pid) => namedInside(instance, pid),
    async dispose() {
      for (const each of opened) await each.close();
      const ids = await containers();
      await Promise.all(ids.map((id) => engine.call("DELETE", `/containers/${id}?force=1&v=1`)));
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** By the freezer of either version of cgroups, or by signal. */
function isFrozen(pid: number): boolean {
  if (["T", "t"].includes(readProcess(pid)?.state ?? "")) return true;
  const groups = (readIfThere(`/proc/${pid}/cgroup`) ?? "").split("\n");
  const freezer = groups.find((line) => /^\d+:freezer:/.test(line))?.split(":")[2];
  if (freezer !== undefined) return readIfThere(`/sys/fs/cgroup/freezer${freezer}/freezer.state`)?.trim() === "FROZEN";
  const unified = groups.find((line) => line.startsWith("0::"))?.slice(3) ?? "";
  return readIfThere(`/sys/fs/cgroup${unified}/cgroup.events`)?.includes("frozen 1") === true;
}

/** The process of this home that has this pid in its container, by the pid of its own namespace; else one of this machine. */
function namedInside(instance: string, pid: number): { pid: number; startTicks: string } {
  const outside = markedProcesses(instance).find((candidate) => {
    const pids = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${candidate}/status`, "utf8"))?.[1]?.split(/\s+/) ?? [];
    return pids.length > 1 && Number(pids.at(-1)) === pid;
  });
  return { pid, startTicks: readProcess(outside ?? pid)?.startTicks ?? "" };
}
