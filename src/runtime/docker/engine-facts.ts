/** Which engine it is, what it can do, and what keeps Reeve from using it. */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { EngineClient } from "./engine-client.ts";

export interface EngineFacts {
  /** For people: "Docker Engine 20.10.24". */
  readonly name: string;
  readonly isPodman: boolean;
  /** Its containers' root is its own user on this machine. */
  readonly isRootless: boolean;
  /** Whether containers go on while the engine is restarted. */
  readonly keepsContainers: boolean;
  /** For people: what of sessions it cannot do on this machine. */
  readonly cannot: readonly string[];
  /** As images name it: amd64, arm64, … */
  readonly architecture: string;
}

export async function readEngineFacts(engine: EngineClient): Promise<EngineFacts> {
  const [version, info] = await Promise.all([engine.demand("GET", "/version"), engine.demand("GET", "/info")]);
  const about = version as {
    readonly Version?: string;
    readonly Arch?: string;
    readonly Components?: readonly { readonly Name?: string; readonly Version?: string }[];
  };
  const { LiveRestoreEnabled, SecurityOptions, Rootless, ...able } = info as {
    readonly LiveRestoreEnabled?: boolean;
    readonly SecurityOptions?: readonly string[] | null;
    readonly Rootless?: boolean;
    readonly MemoryLimit?: boolean;
    readonly PidsLimit?: boolean;
    readonly CpuCfsQuota?: boolean;
    readonly CgroupDriver?: string;
  };
  const podman = about.Components?.find(({ Name }) => Name?.startsWith("Podman") === true);
  const isPodman = podman !== undefined;
  return {
    name: isPodman ? `Podman ${podman.Version ?? ""}`.trim() : `Docker Engine ${about.Version ?? ""}`.trim(),
    isPodman,
    isRootless: Rootless === true || SecurityOptions?.some((option) => option.includes("rootless")) === true,
    // Podman has no daemon that containers could end with.
    keepsContainers: isPodman || LiveRestoreEnabled === true,
    cannot: [
      ...(able.MemoryLimit === false ? ["limit memory"] : []),
      ...(able.CpuCfsQuota === false ? ["limit processors"] : []),
      ...(able.PidsLimit === false ? ["limit processes"] : []),
      ...(able.CgroupDriver === "none" ? ["suspend a session"] : []),
      ...(isPodman ? ["list the processes of a suspended session"] : []),
    ],
    architecture: about.Arch ?? "",
  };
}

/** For `reeve doctor`: which it is, where, and what that means. */
export function describeEngine(facts: EngineFacts, url: string): string {
  const { name, isRootless, keepsContainers, isPodman, cannot } = facts;
  const kind = isRootless ? `${name} without root` : name;
  const restart = isPodman
    ? "live-restore is not needed: sessions do not depend on a daemon"
    : keepsContainers
      ? "live-restore is on: sessions go on while the engine is restarted"
      : 'live-restore is off: sessions end when the engine is restarted (to change that, put "live-restore": true into its daemon.json)';
  const files = isRootless ? "; files of sessions are yours, and they run as root inside" : "";
  const lacks = cannot.length === 0 ? "" : `; it cannot ${cannot.join(", ")}`;
  return `${kind} at ${url}; ${restart}${files}${lacks}`;
}

/** What does not pass by itself is said as something to fix. */
export function impediment(error: unknown, url: string): unknown {
  if (!(error instanceof ReeveError) || error.code !== "runtime-unreachable") return error;
  const { fault } = error.details;
  if (fault === "missing")
    return new ReeveError({
      code: "engine-missing",
      kind: "config",
      message: `No Docker Engine listens at ${url}; start it, or name another with DOCKER_HOST when you start Reeve's daemon.`,
    });
  if (fault === "forbidden")
    return new ReeveError({
      code: "engine-forbidden",
      kind: "config",
      message: `You may not use the Docker Engine's socket (${url}); add yourself to the group docker and log in again, or use a rootless engine.`,
    });
  return error;
}
