/** The restart policy of a start, and who chose it: the start itself, its role or its agent in config.toml, or nobody. */
import type { RestartPolicy } from "../../session/restart-record.ts";
import type { Settings } from "./settings.ts";

export const POLICY_SOURCES = ["start", "role", "agent", "default"] as const;

export interface ChosenRestartPolicy {
  readonly policy: RestartPolicy;
  readonly from: (typeof POLICY_SOURCES)[number];
}

export function chosenRestartPolicy(
  start: { readonly restart?: RestartPolicy | undefined; readonly role: string; readonly agent: string },
  { roles, agents }: Pick<Settings, "roles" | "agents">,
): ChosenRestartPolicy {
  if (start.restart !== undefined) return { policy: start.restart, from: "start" };
  const ofRole = roles[start.role]?.restart ?? null;
  if (ofRole !== null) return { policy: ofRole, from: "role" };
  const ofAgent = agents[start.agent]?.restart ?? null;
  return ofAgent === null ? { policy: "never", from: "default" } : { policy: ofAgent, from: "agent" };
}
