/**
 * Stands in for an agent that this daemon does not know: one that was taken out
 * of config.toml, or that only another version has. Its sessions can be seen by
 * their screens and ended; nothing is typed into them and none is started.
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
