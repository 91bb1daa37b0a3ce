/**
 * What a screen or a title says of an agent's activity, by rules that are data:
 * `rules/<agent>.toml` in the package, and a file of the same name in the
 * user's `rules` directory, whose rules come first and replace those of the
 * same name. The first rule that holds wins.
 *
 *     [[rule]]
 *     name = "approval-command"        # shown by `reeve explain`
 *     versions = ">=0.160 <1"          # of the agent; optional
 *     bottom = 20                      # only the last lines, blank ones at the end not counted; optional
 *     title = '^\[ ! \]'               # the terminal's title; optional
 *     screen = ['^ *Would you like', '^› 1\. Yes']   # each must be found; optional
 *     unless = ['^› Ask']              # none may be found; optional
 *     composer = "present"             # what composer.ts finds: absent, or present, empty or not; optional
 *     activity = "awaiting-approval"
 *     asks = '^ *\$ (.+)$'             # what is asked: group 1, else the whole match; optional
 *     asks_text = "Trust this folder?" # or, where that finds nothing, in our own words; optional
 *     dialog = '^(?:.*\n)*(  Would (?:.*\n)*)' # of an approval, in the whole screen: all that belongs to it; optional
 *     turn = "interrupted"             # a turn ended so: completed, interrupted or failed; or it started; optional
 *     error = '^■ (.+)$'               # with turn = "failed": group 1; optional
 *     limit = '^Limit reached for (\S+)' # it says that a vendor's limit is reached: which; optional
 *     resets = '^(Resets at .+)$'      # with limit: the words that say when; optional
 *
 * A dialog that keys can answer is `awaiting-approval` and has the tables
 * `[rule.approve]` and `[rule.deny]`: see dialog-choice.ts.
 *
 * Patterns are RE2's, `^` and `$` match at each line, `\z` at the end; lines
 * are without trailing blanks and escape sequences. See pattern.ts.
 */
import { parse } from "smol-toml";
import type { Reading, TurnReading } from "../session/reading.ts";
import type { ActivityStatus } from "../session/session.ts";
import { type Composer, readComposer, type Standing } from "./composer.ts";
import { type DialogChoices, offers, parseChoices, readDialog } from "./dialog-choice.ts";
import type { Pattern, PatternCompiler } from "./pattern.ts";
import { loadPatternCompiler } from "./pattern.ts";
import { NO_RESET, resetTimeIn } from "./reset-time.ts";
import { isInRange } from "./version.ts";

export interface ScreenRule {
  readonly name: string;
  readonly versions: string | null;
  readonly bottom: number | null;
  readonly title: Pattern | null;
  readonly screen: readonly Pattern[];
  readonly unless: readonly Pattern[];
  readonly composer: "present" | "absent" | null;
  readonly activity: ActivityStatus;
  readonly asks: Pattern | null;
  readonly asksText: string | null;
  readonly dialog: Pattern | null;
  readonly turn: TurnReading["phase"] | null;
  readonly error: Pattern | null;
  readonly limit: Pattern | null;
  readonly resets: Pattern | null;
  /** Of a dialog that keys can answer. */
  readonly choices: DialogChoices | null;
}

export interface ScreenView {
  readonly text: string;
  /** Without what is drawn faint, and with the cursor: what the composer is recognised in. */
  readonly solid?: string;
  readonly title: string;
  /** When it was looked at, in milliseconds since the epoch: for what it says of times. */
  readonly at?: number;
}

export interface ScreenVerdict {
  readonly rule: string;
  readonly reading: Reading;
}

/** Of the first rule that holds; null when none does. */
export function readScreen(
  rules: readonly ScreenRule[],
  screen: ScreenView,
  version: string | null,
  composer: Composer | null = null,
): ScreenVerdict | null {
  const standing = composer === null ? null : readComposer(composer, screen.solid ?? screen.text).state;
  const lines = screen.text.split("\n").map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  for (const rule of rules) {
    if (rule.versions !== null && version !== null && !isInRange(version, rule.versions)) continue;
    const region = (rule.bottom === null ? lines : lines.slice(-rule.bottom)).join("\n");
    if (rule.composer !== null && !isStanding(rule.composer, standing)) continue;
    if (!holds(rule, region, screen.title)) continue;
    return { rule: rule.name, reading: readingOf(rule, region, lines.join("\n"), screen) };
  }
  return null;
}

export async function parseScreenRules(text: string): Promise<readonly ScreenRule[]> {
  const { rule: rules = [], composer: _composer, ...others } = parse(text);
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new Error(`there is no section [${unknown}], only [[rule]] and [composer]`);
  if (!Array.isArray(rules)) throw new Error("[[rule]] must be a list of tables");
  if (rules.length === 0) return [];
  const compile = await loadPatternCompiler();
  return rules.map((value, index) => {
    try {
      return parseRule(value as Readonly<Record<string, unknown>>, compile);
    } catch (error) {
      throw new Error(`rule ${index + 1}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
}

/** The user's first; of the shipped ones those that the user did not replace. */
export function mergeScreenRules(shipped: readonly ScreenRule[], users: readonly ScreenRule[]): readonly ScreenRule[] {
  const replaced = new Set(users.map((rule) => rule.name));
  return [...users, ...shipped.filter((rule) => !replaced.has(rule.name))];
}

/** Where nothing describes the composer, no rule that speaks of it holds. */
function isStanding(wanted: "present" | "absent", standing: Standing["state"] | null): boolean {
  return standing !== null && (wanted === "absent") === (standing === "absent");
}

function holds(rule: ScreenRule, region: string, title: string): boolean {
  if (rule.title !== null && !rule.title.test(title)) return false;
  if (rule.choices !== null && !offers(rule.choices, region)) return false;
  return rule.screen.every((pattern) => pattern.test(region)) && !rule.unless.some((pattern) => pattern.test(region));
}

function readingOf(rule: ScreenRule, region: string, whole: string, { title, at }: ScreenView): Reading {
  const asks = found(rule.asks, region) ?? rule.asksText;
  const dialog = found(rule.dialog, whole) ?? region;
  const isTitleOnly = rule.screen.length === 0 && rule.title !== null;
  return {
    source: "screen",
    detail: isTitleOnly ? `rule ${rule.name}: title "${title}"` : `rule ${rule.name}`,
    activity: rule.activity,
    ...(asks === null ? {} : { asks }),
    ...(rule.activity === "awaiting-approval" ? { dialog } : {}),
    ...(rule.choices === null ? {} : readDialog(rule.choices, { rule: rule.name, region, dialog, asks })),
    ...(rule.turn === null ? {} : { turn: turnOf(rule.turn, found(rule.error, region)) }),
    ...limitsOf(rule, region, at),
  };
}

function limitsOf(rule: ScreenRule, region: string, at: number | undefined): Pick<Reading, "limits"> {
  const limit = found(rule.limit, region);
  if (limit === null) return {};
  const resets = found(rule.resets, region);
  const time = resets === null || at === undefined ? NO_RESET : resetTimeIn(resets, at);
  const text = [`limit reached for ${limit}`, ...(resets === null ? [] : [resets])].join(". ");
  return {
    limits: [{ limit, status: "rejected", usedPercent: 100, ...time, ...(at === undefined ? {} : { at }), text }],
  };
}

function turnOf(phase: NonNullable<ScreenRule["turn"]>, error: string | null): TurnReading {
  return phase === "failed" ? { phase, error: error ?? "its screen shows an error" } : { phase };
}

function found(pattern: Pattern | null, region: string): string | null {
  return pattern?.find(region)?.trim() ?? null;
}

const ACTIVITIES = ["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"] as const;
const VERDICTS = ["started", "completed", "interrupted", "failed"] as const;
const FIELDS = new Set([
  "name",
  "versions",
  "bottom",
  "title",
  "screen",
  "unless",
  "composer",
  "activity",
  "asks",
  "asks_text",
  "dialog",
  "turn",
  "error",
  "limit",
  "resets",
  "approve",
  "deny",
]);

function parseRule(value: Readonly<Record<string, unknown>>, compile: PatternCompiler): ScreenRule {
  const unknown = Object.keys(value).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) throw new Error(`${nameOf(value)}there is no field ${unknown}`);
  const { name, bottom, activity, turn, composer = null } = value;
  if (typeof name !== "string" || name === "") throw new Error("name is missing");
  const status = ACTIVITIES.find((known) => known === activity);
  if (status === undefined) throw new Error(`${name}: activity must be one of ${ACTIVITIES.join(", ")}`);
  const verdict = turn === undefined ? null : VERDICTS.find((known) => known === turn);
  if (verdict === undefined) throw new Error(`${name}: turn must be one of ${VERDICTS.join(", ")}`);
  if (composer !== null && composer !== "present" && composer !== "absent")
    throw new Error(`${name}: composer must be present or absent`);
  if (bottom !== undefined && (typeof bottom !== "number" || bottom < 1))
    throw new Error(`${name}: bottom must be a number of lines`);
  const at = <T>(key: string, read: (value: unknown) => T): T => {
    try {
      return read(value[key]);
    } catch (error) {
      throw new Error(`${name}: ${key} ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  };
  const pattern = (key: string): Pattern | null => at(key, (text) => patternOf(text, compile));
  const patterns = (key: string): readonly Pattern[] => at(key, (text) => patternsOf(text, compile));
  const rule: ScreenRule = {
    name,
    versions: at("versions", rangeOf),
    bottom: bottom ?? null,
    title: pattern("title"),
    screen: patterns("screen"),
    unless: patterns("unless"),
    composer,
    activity: status,
    asks: pattern("asks"),
    asksText: at("asks_text", textOf),
    dialog: pattern("dialog"),
    turn: verdict,
    error: pattern("error"),
    limit: pattern("limit"),
    resets: pattern("resets"),
    choices: choicesOf(name, value, compile),
  };
  if (rule.choices !== null && status !== "awaiting-approval")
    throw new Error(`${name}: with approve and deny, activity must be awaiting-approval`);
  if (rule.title === null && rule.screen.length === 0 && rule.composer === null)
    throw new Error(`${name}: needs a title or a screen pattern`);
  return rule;
}

function choicesOf(
  name: string,
  { approve, deny }: Readonly<Record<string, unknown>>,
  compile: PatternCompiler,
): DialogChoices | null {
  try {
    return parseChoices(approve, deny, compile);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function nameOf({ name }: Readonly<Record<string, unknown>>): string {
  return typeof name === "string" ? `${name}: ` : "";
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== "string") throw new Error("must be a text");
  return value;
}

function rangeOf(value: unknown): string | null {
  const range = textOf(value);
  if (range !== null) isInRange("0", range);
  return range;
}

function patternOf(value: unknown, compile: PatternCompiler): Pattern | null {
  const text = textOf(value);
  return text === null ? null : compile(text);
}

function patternsOf(value: unknown, compile: PatternCompiler): readonly Pattern[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((text: unknown) => {
    if (typeof text !== "string") throw new Error("must be a pattern or a list of them");
    return compile(text);
  });
}
