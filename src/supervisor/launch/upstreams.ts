/**
 * What a session with the network `proxy` reaches: its agent's model, as the
 * adapter says, and what the user declared in `[docker.upstreams]`. Pure.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { PlannedCapture } from "../../session/persistence.ts";
import type { Launch } from "../../session/session.ts";

type Upstreams = Readonly<Record<string, string>>;

/** Apart from the names that adapters use. */
const PREFIX = "own-";

export function declaredUpstreams({ container }: Pick<Launch, "container">, declared: Upstreams): Upstreams {
  if (container?.network !== "proxy") return {};
  return Object.fromEntries(Object.entries(declared).map(([name, address]) => [`${PREFIX}${name}`, address]));
}

/** In which variable the session finds its address. */
export function variableOf(upstream: string): string {
  return `REEVE_UPSTREAM_${upstream.slice(PREFIX.length).replaceAll("-", "_").toUpperCase()}`;
}

/** Throws where a session could reach nothing, and the network `proxy` would mean as little as `none`. */
export function withUpstreams(
  agent: string,
  { container }: Pick<Launch, "container">,
  planned: PlannedCapture | null,
  declared: Upstreams,
): PlannedCapture | null {
  if (container?.network !== "proxy") return planned;
  const upstreams = { ...declared, ...planned?.upstreams };
  if (Object.keys(upstreams).length > 0) return { switchedOff: planned?.switchedOff ?? [], upstreams };
  throw nothingToReach(agent);
}

export function nothingToReach(agent: string): ReeveError {
  return new ReeveError({
    code: "network-leads-nowhere",
    kind: "usage",
    message: `Reeve knows no address that ${agent} could reach with --network proxy; declare one in [docker.upstreams] of config.toml, or use --network none or full.`,
  });
}
