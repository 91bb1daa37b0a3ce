/**
 * The time-outs of a session: after how long Reeve does something about it
 * although nobody asks. This table is the one place with their defaults and
 * with what each of them can do. What is said elsewhere is a choice; the most
 * particular one counts (`chosenTimeOuts`). When one fires is decided in
 * countdown.ts.
 */
import { durationMs } from "../platform/duration.ts";
import { instant, object, type Of, oneOf, orNull, type Shape } from "./shape.ts";

/** report: an event, and an item of the inbox. interrupt: the turn is stopped. end: the session is ended. kill: what is left of its processes. */
export const TIME_OUT_ACTIONS = ["report", "interrupt", "end", "kill"] as const;
const action = oneOf(...TIME_OUT_ACTIONS);
export type TimeOutAction = Of<typeof action>;

interface TimeOutRow {
  /** Null: off unless somebody chooses it. */
  readonly afterMs: number | null;
  /** What happens where only the time was chosen. */
  readonly action: TimeOutAction;
  readonly actions: readonly TimeOutAction[];
  readonly mostMs: number;
  /** What it is about: "A start time-out". */
  readonly name: string;
  /** When it fires, for people. */
  readonly meaning: string;
}

const YEAR_MS = 365 * 86_400_000;

export const TIME_OUTS = {
  start: {
    afterMs: 60_000,
    action: "report",
    actions: ["report", "end"],
    mostMs: YEAR_MS,
    name: "start",
    meaning:
      "The agent has not said that it is ready. A process that cannot be created is given up after the same time.",
  },
  turn: {
    afterMs: null,
    action: "report",
    actions: ["report", "interrupt", "end"],
    mostMs: YEAR_MS,
    name: "turn",
    meaning: "A turn is still under way. Time in which it waits for an answer or is suspended does not count.",
  },
  idle: {
    afterMs: null,
    action: "end",
    actions: ["report", "end"],
    mostMs: YEAR_MS,
    name: "idle",
    meaning: "The session is idle, and nothing has happened in it. A session that is held is left alone.",
  },
  approval: {
    afterMs: 900_000,
    action: "report",
    actions: ["report", "end"],
    mostMs: YEAR_MS,
    name: "approval",
    meaning: "A question of the agent still waits for an answer.",
  },
  stop_grace: {
    afterMs: 10_000,
    action: "kill",
    actions: ["kill"],
    mostMs: 3_600_000,
    name: "stop-grace",
    meaning: "Its processes were asked to end, and some are still there.",
  },
  age: {
    afterMs: null,
    action: "end",
    actions: ["report", "end"],
    mostMs: YEAR_MS,
    name: "age",
    meaning:
      "The session was started so long ago. A turn under way is finished first. A session that is held is left alone.",
  },
} as const satisfies Record<string, TimeOutRow>;

export type TimeOutName = keyof typeof TIME_OUTS;
export const TIME_OUT_NAMES = Object.keys(TIME_OUTS) as readonly TimeOutName[];
export const timeOutName: Shape<TimeOutName> = oneOf(...TIME_OUT_NAMES);
export const timeOutAction = action;

/** What somebody chose for one time-out. */
export const timeOutChoice = object({
  /** Null: it is off. */
  afterMs: orNull(instant),
  /** Null: what a less particular choice says, else the table. */
  action: orNull(action),
});
export interface TimeOutChoice extends Of<typeof timeOutChoice> {}
export type TimeOutChoices = Readonly<Partial<Record<TimeOutName, TimeOutChoice>>>;

/** Who may choose, the most particular first. */
export const TIME_OUT_SOURCES = ["start", "role", "agent", "settings", "default"] as const;
export type TimeOutSource = (typeof TIME_OUT_SOURCES)[number];

export interface ChosenTimeOut {
  readonly afterMs: number | null;
  readonly action: TimeOutAction;
  readonly from: TimeOutSource;
}
export type ChosenTimeOuts = Readonly<Record<TimeOutName, ChosenTimeOut>>;

/** Of each time-out the first choice counts; what it does not say of the action, a later one may. */
export function chosenTimeOuts(
  choices: Readonly<Record<Exclude<TimeOutSource, "default">, TimeOutChoices>>,
): ChosenTimeOuts {
  const chosen = TIME_OUT_NAMES.map((name): readonly [TimeOutName, ChosenTimeOut] => {
    const made = TIME_OUT_SOURCES.flatMap((from) => {
      const choice = from === "default" ? undefined : choices[from][name];
      return choice === undefined ? [] : [{ ...choice, from }];
    });
    const [first] = made;
    const does = made.find((choice) => choice.action !== null)?.action ?? TIME_OUTS[name].action;
    if (first === undefined) return [name, { afterMs: TIME_OUTS[name].afterMs, action: does, from: "default" }];
    return [name, { afterMs: first.afterMs, action: does, from: first.from }];
  });
  return Object.fromEntries(chosen) as ChosenTimeOuts;
}

export const DEFAULT_TIME_OUTS: ChosenTimeOuts = chosenTimeOuts({ start: {}, role: {}, agent: {}, settings: {} });

/**
 * A table of choices, as a person or a program wrote it: seconds, a text like
 * "30m", "off", or `{ after, then }`. Throws one sentence that says what is
 * wrong; `where` names the table.
 */
export function parseTimeOuts(where: string, table: Readonly<Record<string, unknown>>): TimeOutChoices {
  const entries = Object.entries(table).map(([name, value]): readonly [TimeOutName, TimeOutChoice] => {
    const known = TIME_OUT_NAMES.find((candidate) => candidate === name);
    if (known === undefined)
      throw new Error(`there is no time-out ${name} in ${where}; there are ${TIME_OUT_NAMES.join(", ")}`);
    return [known, parseChoice(where, known, value)];
  });
  return Object.fromEntries(entries);
}

function parseChoice(where: string, name: TimeOutName, value: unknown): TimeOutChoice {
  const label = `${where} ${name}`;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { afterMs: parseAfter(label, name, value), action: null };
  const { after, then, ...others } = value as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`${label} has no setting ${unknown}; it takes after and then`);
  return { afterMs: parseAfter(label, name, after), action: parseAction(label, name, then) };
}

function parseAfter(label: string, name: TimeOutName, value: unknown): number | null {
  if (value === "off" || value === false) return requireOffPossible(label, name);
  const ms = typeof value === "number" ? value * 1_000 : typeof value === "string" ? durationMs(value) : null;
  const { mostMs } = TIME_OUTS[name];
  const isPossible = ms !== null && Number.isFinite(ms) && (ms > 0 || (ms === 0 && name === "stop_grace"));
  if (!isPossible)
    throw new Error(
      `${label} must be a number of seconds, a time like "30m" or "2h", or "off"; more than 0 and at most ${mostMs / 1_000} seconds`,
    );
  if (ms > mostMs) throw new Error(`${label} is at most ${mostMs / 1_000} seconds`);
  return ms;
}

/** Without an end of the grace, what does not end by itself would never be ended. */
function requireOffPossible(label: string, name: TimeOutName): null {
  if (name === "stop_grace") throw new Error(`${label} cannot be off; give a number of seconds`);
  return null;
}

function parseAction(label: string, name: TimeOutName, value: unknown): TimeOutAction | null {
  if (value === undefined) return null;
  const actions: readonly TimeOutAction[] = TIME_OUTS[name].actions;
  const known = actions.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw new Error(`${label} cannot do ${JSON.stringify(value)}; it can ${actions.join(" or ")}`);
}
