/**
 * Settings of config.toml that are on or off for a session, and may stand in
 * `[sessions]`, `[agent.<name>]` and `[role.<name>]`; the role counts more than
 * the agent:
 *
 *   recovery_wakes    whether a session that was restarted in the middle of a turn is told so by a wake
 *   memory_reminder   whether a session that remembered nothing in a turn is reminded at its end (decision 70)
 */
import type { Identity } from "../../session/session.ts";
import { parseSwitch } from "./setting-value.ts";

const BY_DEFAULT = { recovery_wakes: true, memory_reminder: false } as const;

export type SwitchName = keyof typeof BY_DEFAULT;

interface Chosen {
  readonly isOn: boolean;
  readonly byAgent: Readonly<Record<string, boolean>>;
  readonly byRole: Readonly<Record<string, boolean>>;
}

export type SessionSwitches = Readonly<Record<SwitchName, Chosen>>;

export const switchesByDefault: SessionSwitches = {
  recovery_wakes: { isOn: BY_DEFAULT.recovery_wakes, byAgent: {}, byRole: {} },
  memory_reminder: { isOn: BY_DEFAULT.memory_reminder, byAgent: {}, byRole: {} },
};

export function isOnFor(
  name: SwitchName,
  { agent, role }: Pick<Identity, "agent" | "role">,
  { switches }: { readonly switches: SessionSwitches },
): boolean {
  const { isOn, byAgent, byRole } = switches[name];
  return byRole[role] ?? byAgent[agent] ?? isOn;
}

type Table = Readonly<Record<string, unknown>>;

/** What they say, and the file without them, for whoever reads the rest. */
export function takeSwitches(file: Table): { readonly switches: SessionSwitches; readonly rest: Table } {
  const recovery = takeSwitch(file, "recovery_wakes");
  const reminder = takeSwitch(recovery.rest, "memory_reminder");
  return { switches: { recovery_wakes: recovery.chosen, memory_reminder: reminder.chosen }, rest: reminder.rest };
}

function takeSwitch(file: Table, name: SwitchName): { readonly chosen: Chosen; readonly rest: Table } {
  const sessions = without(file["sessions"], name);
  const [agents, roles] = [tablesIn(file, "agent", name), tablesIn(file, "role", name)];
  const isOn = parseSwitch(name, sessions.said) ?? BY_DEFAULT[name];
  return {
    chosen: { isOn, byAgent: agents.said, byRole: roles.said },
    rest: {
      ...file,
      ...(file["sessions"] === undefined ? {} : { sessions: sessions.rest }),
      ...(file["agent"] === undefined ? {} : { agent: agents.rest }),
      ...(file["role"] === undefined ? {} : { role: roles.rest }),
    },
  };
}

function tablesIn(
  file: Table,
  what: "agent" | "role",
  name: SwitchName,
): { readonly said: Record<string, boolean>; readonly rest: unknown } {
  const value = file[what];
  if (!isTable(value)) return { said: {}, rest: value };
  const said: Record<string, boolean> = {};
  const rest = Object.entries(value).map(([whose, table]) => {
    const taken = without(table, name);
    const chosen = parseSwitch(`[${what}.${whose}] ${name}`, taken.said);
    if (chosen !== null) said[whose] = chosen;
    return [whose, taken.rest] as const;
  });
  return { said, rest: Object.fromEntries(rest) };
}

/** What is no table is left for whoever says so. */
function without(value: unknown, name: SwitchName): { readonly said: unknown; readonly rest: unknown } {
  if (!isTable(value)) return { said: undefined, rest: value };
  const { [name]: said, ...rest } = value;
  return { said, rest };
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
