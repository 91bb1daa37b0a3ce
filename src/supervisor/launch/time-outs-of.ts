/** The time-outs of a session: what its start says counts before its role, its agent, `[timeouts]` of config.toml, and the table. */
import type { Session } from "../../session/session.ts";
import { chosenTimeOuts, type ChosenTimeOuts } from "../../session/time-out.ts";
import type { Settings } from "./settings.ts";

export type TimeOutSettings = Pick<Settings, "timeouts" | "roles" | "agents">;

export function timeOutsOf(
  { identity, timeouts }: Pick<Session, "identity" | "timeouts">,
  settings: TimeOutSettings,
): ChosenTimeOuts {
  return chosenTimeOuts({
    start: timeouts.chosen,
    role: settings.roles[identity.role]?.timeouts ?? {},
    agent: settings.agents[identity.agent]?.timeouts ?? {},
    settings: settings.timeouts,
  });
}
