/**
 * The container that a start gets: what it says, else what its role or
 * config.toml says. Throws what is wrong with it; pure, so whether paths exist
 * is for the caller to look.
 */
import { isAbsolute, relative, resolve } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Container, Mount } from "../../session/container.ts";
import { parseBytes } from "./docker-settings.ts";
import type { Settings } from "./settings.ts";

/** What a start may say about it. */
export interface ContainerWish {
  readonly image?: string | undefined;
  readonly memory?: string | undefined;
  readonly cpus?: number | undefined;
  readonly pids?: number | undefined;
  readonly network?: Container["network"] | undefined;
  readonly mounts?: readonly string[] | undefined;
  readonly role?: string | undefined;
}

/** Below this a shell, tmux and a small agent do not start, and what they say then is no help. */
const LEAST_MEMORY_BYTES = 64 * 1_048_576;
const LEAST_PIDS = 32;
const LEAST_CPUS = 0.05;

export function chosenContainer(
  wish: ContainerWish,
  where: {
    readonly settings: Pick<Settings, "docker" | "roles">;
    readonly cwd: string;
    /** Directories of Reeve's own: a session that sees them could change what is recorded. */
    readonly kept: readonly string[];
  },
): Container {
  const { docker, roles } = where.settings;
  const role = roles[wish.role ?? ""];
  const of = role?.container;
  const image = wish.image ?? role?.image ?? docker.image;
  if (image === null)
    throw usage(
      "image-not-named",
      "A session in a container needs an image: make one with reeve image build, and name it with --image or as image in [docker] of config.toml.",
    );
  requireWorkspace(where.cwd, docker.workspaces, where.kept);
  const container: Container = {
    image,
    memoryBytes: wish.memory === undefined ? (of?.memoryBytes ?? docker.memoryBytes) : bytesOf(wish.memory),
    cpus: wish.cpus ?? of?.cpus ?? docker.cpus,
    pids: wish.pids ?? of?.pids ?? docker.pids,
    network: wish.network ?? of?.network ?? docker.network,
    mounts: (wish.mounts ?? of?.mounts ?? []).map((text) => mountOf(text, where.cwd, where.kept)),
  };
  requireEnough(container);
  return container;
}

/** What a start without a container must not say. */
export function refuseContainer(wish: ContainerWish, runtime: string): void {
  const said = (["image", "memory", "cpus", "pids", "network", "mounts"] as const).find(
    (name) => wish[name] !== undefined,
  );
  if (said === undefined) return;
  throw usage(
    "needs-container",
    `The runtime ${runtime} has no containers, so ${said} means nothing there; add --runtime docker, or leave it out.`,
  );
}

function requireWorkspace(cwd: string, allowed: readonly string[], kept: readonly string[]): void {
  const holds = kept.find((path) => isInside(path, cwd));
  if (holds !== undefined)
    throw usage(
      "workspace-not-allowed",
      `${cwd} cannot be given to a container, because Reeve's own files are in it (${holds}); choose a directory inside it.`,
    );
  if (allowed.length === 0 || allowed.some((root) => isInside(cwd, resolve(root)))) return;
  throw usage(
    "workspace-not-allowed",
    `${cwd} is outside of what sessions in containers may work in (workspaces in [docker] of config.toml: ${allowed.join(", ")}).`,
  );
}

function mountOf(text: string, cwd: string, kept: readonly string[]): Mount {
  const [, from, target, how] = /^([^:\0]+):(\/[^:\0]*)(?::(r[ow]))?$/.exec(text) ?? [];
  if (from === undefined || target === undefined)
    throw usage("mount-invalid", `A mount is written as SOURCE:TARGET or SOURCE:TARGET:ro, not "${text}".`);
  const source = isAbsolute(from) ? from : resolve(cwd, from);
  if (kept.some((path) => isInside(path, source)))
    throw usage("mount-not-allowed", `${source} cannot be mounted, because Reeve's own files are in it.`);
  if (
    target === "/" ||
    target === "/run/reeve" ||
    target === "/run/reeve-passage" ||
    target === "/proc" ||
    target === "/sys" ||
    target === "/dev"
  )
    throw usage("mount-not-allowed", `Nothing can be mounted at ${target}; choose another directory in the container.`);
  return { source, target, isReadOnly: how === "ro" };
}

function bytesOf(text: string): number {
  const bytes = parseBytes(text);
  if (bytes === null)
    throw usage("memory-invalid", `An amount of memory is written such as 2g or 512m, not "${text}".`);
  return bytes;
}

function requireEnough({ memoryBytes, pids, cpus }: Container): void {
  if (memoryBytes !== null && memoryBytes < LEAST_MEMORY_BYTES)
    throw usage("limits-too-low", "Give the container 64m of memory or more; with less its terminal does not start.");
  if (pids !== null && pids < LEAST_PIDS)
    throw usage(
      "limits-too-low",
      `Give the container ${LEAST_PIDS} processes or more; with less its terminal does not start.`,
    );
  if (cpus !== null && cpus < LEAST_CPUS)
    throw usage(
      "limits-too-low",
      `Give the container ${LEAST_CPUS} processors or more; with less it does not get anywhere.`,
    );
}

/** Whether a path is that directory, or below it. */
function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}

function usage(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}
