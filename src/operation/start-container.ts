/** The container of a start: what it says and the settings add, checked against what is there. */
import { dirname } from "node:path";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Agent } from "../agent/contract.ts";
import type { Runtime } from "../runtime/contract.ts";
import { CARRIERS, imageWithoutCarrier } from "../runtime/passage.ts";
import type { SessionPrograms } from "../runtime/session-files.ts";
import type { Container } from "../session/container.ts";
import { chosenContainer, type ContainerWish, refuseContainer } from "../supervisor/launch/chosen-container.ts";
import { nothingToReach } from "../supervisor/launch/upstreams.ts";
import type { OperationContext } from "./contract.ts";

export interface StartContainer {
  readonly container: Container | null;
  /** Where its programs are looked for. */
  readonly programs: SessionPrograms;
  /** PATH inside; null where it is the caller's. */
  readonly path: string | null;
}

/** Where it runs, if it does not say: as its role does, else where all do. */
export function chosenRuntime(
  { supervisor }: OperationContext,
  { runtime, role }: { readonly runtime?: string | undefined; readonly role?: string | undefined },
): string {
  return runtime ?? supervisor.settings.roles[role ?? ""]?.runtime ?? supervisor.runtimes()[0]?.kind ?? "none";
}

export async function containerOf(
  { supervisor, outputsDir, daemon }: OperationContext,
  runtime: Runtime,
  wish: ContainerWish,
  cwd: string,
): Promise<StartContainer> {
  const { files, programsIn } = runtime;
  if (!runtime.capabilities.containers || programsIn === undefined) {
    refuseContainer(wish, runtime.kind);
    return { container: null, programs: files, path: null };
  }
  const container = chosenContainer(wish, {
    settings: supervisor.settings,
    cwd,
    kept: [outputsDir, dirname(daemon.socketPath)],
  });
  for (const { source } of container.mounts)
    if ((await files.stat(source)) === null)
      throw new ReeveError({
        code: "mount-source-missing",
        kind: "usage",
        message: `There is no ${source} to mount; check the path.`,
      });
  const programs = await programsIn(container.image);
  return { container, programs, path: programs.path };
}

/** What passes requests on to the capture proxy, inside. */
export async function requireCarrier(
  programs: SessionPrograms,
  image: string,
  { cwd, path }: { readonly cwd: string; readonly path: string | null },
): Promise<void> {
  for (const carrier of CARRIERS)
    if ((await programs.findProgram(carrier, { cwd, path: path ?? undefined })) !== null) return;
  throw imageWithoutCarrier(image);
}

/** What of an agent's model can be reached is known once it is planned; of one that has none, it is known here. */
export function requireUpstreams(
  { supervisor }: OperationContext,
  name: string,
  { captures }: Pick<Agent, "captures">,
  { network }: Container,
): void {
  const declared = Object.keys(supervisor.settings.docker.upstreams).length;
  if (network === "proxy" && captures?.proxy !== true && declared === 0) throw nothingToReach(name);
}
