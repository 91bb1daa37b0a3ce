/**
 * How a dialog on an agent's screen is answered, as its rule says
 * (screen-rules.ts): which choice approve and deny take, and by which keys.
 *
 *     [rule.approve]
 *     choice = '^[› ] 1\. (.+)$'        # must be on the screen; group 1 is shown to whoever decides
 *     means = "ends the session"       # what the choice does not say itself; optional
 *     selected = '^› 1\. '             # where the keys confirm what is selected; optional
 *     move = "Up"                      # with `selected`: the key that selects it
 *     keys = ["Enter"]
 *
 * `[rule.deny]` is the same. Where the choice is not selected, `move` is
 * pressed alone, and `keys` only once the screen shows that it is selected.
 */
import { createHash } from "node:crypto";
import type { Choices, Decision } from "../session/approval.ts";
import type { Key } from "../session/input.ts";
import type { AnswerKeys, Reading } from "../session/reading.ts";
import type { Pattern, PatternCompiler } from "./pattern.ts";
import { visibleText } from "./visible-text.ts";

interface DialogChoice {
  readonly choice: Pattern;
  readonly means: string | null;
  readonly selected: Pattern | null;
  readonly move: Key | null;
  readonly keys: readonly Key[];
}

export type DialogChoices = Readonly<Record<Decision, DialogChoice>>;

/** Whether both choices are on the screen: else it is another dialog than the rule knows. */
export function offers({ approved, denied }: DialogChoices, region: string): boolean {
  return approved.choice.test(region) && denied.choice.test(region);
}

/** `dialog`: its text above the choices. The id is made of what is read, so that another dialog has another one. */
export function readDialog(
  { approved, denied }: DialogChoices,
  shown: { readonly rule: string; readonly region: string; readonly dialog: string; readonly asks: string | null },
): Pick<Reading, "approval" | "answers"> {
  const { rule, region } = shown;
  const text = plainText(shown.dialog);
  const choices: Choices = { approved: wordsOf(approved, region), denied: wordsOf(denied, region) };
  const whole = visibleText([shown.asks ?? "", text, choices.approved, choices.denied].join(" "));
  const print = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  const requested = {
    id: `dialog-${rule}-${print}`,
    kind: "other",
    title: shown.asks ?? "It shows a dialog.",
    subject: text,
    cwd: null,
    reason: null,
  } as const;
  return {
    approval: { requested, choices },
    answers: { approved: keysOf(approved, region), denied: keysOf(denied, region) },
  };
}

function wordsOf({ choice, means }: DialogChoice, region: string): string {
  const words = choice.find(region)?.trim() ?? "";
  return means === null ? words : `${words} (${means})`;
}

function keysOf({ keys, selected, move }: DialogChoice, region: string): AnswerKeys {
  return { keys, move: selected === null || selected.test(region) ? null : move };
}

/** Without the frame around it and the blanks beside it. */
function plainText(dialog: string): string {
  return dialog
    .split("\n")
    .map((line) => line.replaceAll(/^[ │]+|[ │]+$/gu, ""))
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const FIELDS = new Set(["choice", "means", "selected", "move", "keys"]);
const KEYS: readonly Key[] = ["Enter", "Escape", "Tab", "Up", "Down", "y", "n", "1", "2", "3", "4"];

/** Null where the rule has neither; both, or it cannot be used. */
export function parseChoices(approve: unknown, deny: unknown, compile: PatternCompiler): DialogChoices | null {
  if (approve === undefined && deny === undefined) return null;
  return { approved: parseChoice("approve", approve, compile), denied: parseChoice("deny", deny, compile) };
}

function parseChoice(name: string, value: unknown, compile: PatternCompiler): DialogChoice {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${name} must be a table; a rule has both approve and deny, or neither`);
  const fields = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) throw new Error(`${name}: there is no field ${unknown}`);
  const text = (key: string): string | null => {
    const found = fields[key];
    if (found !== undefined && typeof found !== "string") throw new Error(`${name}: ${key} must be a text`);
    return found ?? null;
  };
  const { keys } = fields;
  const [choice, selected, move] = [text("choice"), text("selected"), text("move")];
  if (choice === null || !Array.isArray(keys) || keys.length === 0) throw new Error(`${name}: needs choice and keys`);
  if ((selected === null) !== (move === null)) throw new Error(`${name}: selected and move belong together`);
  return {
    choice: compile(choice),
    means: text("means"),
    selected: selected === null ? null : compile(selected),
    move: move === null ? null : keyOf(name, move),
    keys: keys.map((key: unknown) => keyOf(name, key)),
  };
}

function keyOf(name: string, value: unknown): Key {
  const key = KEYS.find((known) => known === value);
  if (key === undefined) throw new Error(`${name}: knows only the keys ${KEYS.join(", ")}`);
  return key;
}
