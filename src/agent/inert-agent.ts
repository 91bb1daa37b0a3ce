/**
 * Stands in for an agent that this daemon does not know: one that was taken out
 * of config.toml, or that only another version has. One can look at the screens
 * of its sessions and end them. Reeve types nothing into them and starts none.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Agent } from "./contract.ts";
import { silentAgent } from "./silent-agent.ts";

/** `impediment`: one sentence, what is wrong and what to do. */
export function inertAgent(name: string, impediment: string): Agent {
  return {
    ...silentAgent,
    name,
    impediment,
    plan: () => {
      throw new ReeveError({ code: "unknown-agent", kind: "conflict", message: impediment });
    },
    encode: () => [],
    accepts: () => false,
  };
}
