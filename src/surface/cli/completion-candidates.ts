/**
 * What a shell may offer for the word that is being typed, from the table of commands. Pure. It only compares what was
 * typed and never runs it. The shell completes paths itself, because only it knows its own quotes.
 */
import { ALIASES } from "./aliases.ts";
import { actionOf, optionsOfAction } from "./command-action.ts";
import { optionsOf } from "./command.ts";
import type { CliCommand, Completion, OptionSpec } from "./command.ts";
import { HELP_TOPICS } from "./help.ts";

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export interface Candidates {
  readonly values: readonly Candidate[];
  /** The shell is to complete a path here. */
  readonly paths: "none" | "file" | "directory";
}

const TOPICS = HELP_TOPICS.map((value) => ({ value, description: "a topic" }));
const NOTHING: Candidates = { values: [], paths: "none" };

/** `words` are those after `reeve`; the last one is being typed. */
export function candidatesFor(
  commands: readonly CliCommand[],
  sessions: readonly Candidate[],
  words: readonly string[],
  work: readonly Candidate[] = [],
): Candidates {
  const typed = words.filter((word, index) => !(index === 0 && words.length > 1 && word === "--json"));
  const current = typed.at(-1) ?? "";
  const [called, ...before] = typed.slice(0, -1);
  const name = called === undefined ? undefined : (ALIASES.get(called)?.[0] ?? called);
  const shown = commands.filter((command) => command.isHidden !== true);
  const named = shown.map((command) => ({ value: command.name, description: command.summary }));
  if (name === undefined) return fitting(named, current);
  const command = shown.find((candidate) => candidate.name === name);
  if (command === undefined) return NOTHING;
  const offer = (completion: Completion | undefined, prefix = "", text = current): Candidates => {
    switch (completion) {
      case undefined:
        return NOTHING;
      case "file":
      case "directory":
        return { values: [], paths: completion };
      case "session":
        return fitting(sessions, text, prefix);
      case "work":
        return fitting(work, text, prefix);
      case "command":
        return fitting([...named, ...TOPICS], text, prefix);
      default:
        return fitting(
          completion.map((value) => ({ value, description: "" })),
          text,
          prefix,
        );
    }
  };
  const place = placeOf(command, before);
  if (place.kind === "rest") return { values: [], paths: "file" };
  if (place.kind === "value") return offer(place.option.choices ?? place.option.completion);
  if (!place.isText && current.startsWith("-")) {
    const equals = current.indexOf("=");
    if (equals < 0) return fitting(optionNames(command, place), current);
    const option = optionsOf(command).find((spec) => `--${spec.name}` === current.slice(0, equals));
    return offer(option?.choices ?? option?.completion, current.slice(0, equals + 1), current.slice(equals + 1));
  }
  if (command.actions !== undefined && place.positional.length === 0)
    return fitting(
      Object.entries(command.actions).map(([value, { summary }]) => ({ value, description: summary })),
      current,
    );
  return offer(completionAt(command, place.positional));
}

type Place =
  | { readonly kind: "value"; readonly option: OptionSpec }
  | {
      readonly kind: "argument";
      /** The arguments before it. */
      readonly positional: readonly string[];
      readonly given: ReadonlySet<string>;
      /** After `--`, where nothing is an option any more. */
      readonly isText: boolean;
    }
  | { readonly kind: "rest" };

/** Where the next word stands, after these. */
function placeOf(command: CliCommand, before: readonly string[]): Place {
  const given = new Set<string>();
  const positional: string[] = [];
  let pending: OptionSpec | null = null;
  for (const [index, word] of before.entries()) {
    if (pending !== null) {
      pending = null;
      continue;
    }
    if (word === "--") {
      if (command.rest !== undefined) return { kind: "rest" };
      return { kind: "argument", positional: [...positional, ...before.slice(index + 1)], given, isText: true };
    }
    const [name = "", inline] = word.split("=", 2);
    const option = optionsOf(command).find((spec) => `--${spec.name}` === name || `-${spec.short}` === name);
    if (option === undefined) {
      positional.push(word);
      continue;
    }
    given.add(option.name);
    if (option.value !== undefined && inline === undefined) pending = option;
  }
  return pending === null ? { kind: "argument", positional, given, isText: false } : { kind: "value", option: pending };
}

function optionNames(
  command: CliCommand,
  { given, positional }: { readonly given: ReadonlySet<string>; readonly positional: readonly string[] },
): readonly Candidate[] {
  const action = actionOf(command, positional[0]);
  return optionsOf(command, action === null ? undefined : optionsOfAction(command, action.name))
    .filter((option) => option.isRepeatable === true || !given.has(option.name))
    .map((option) => ({ value: `--${option.name}`, description: option.summary }));
}

function completionAt(command: CliCommand, positional: readonly string[]): Completion | undefined {
  const action = actionOf(command, positional[0]);
  if (action !== null) return positional.length <= Math.min(action.spec.most, 1) ? action.spec.completion : undefined;
  const last = command.arguments.at(-1);
  const argument = command.arguments[positional.length] ?? (last?.isRepeated === true ? last : undefined);
  return argument?.choices ?? argument?.completion;
}

function fitting(values: readonly Candidate[], text: string, prefix = ""): Candidates {
  const fits = values.filter(({ value }) => value.startsWith(text));
  return { values: fits.map(({ value, description }) => ({ value: `${prefix}${value}`, description })), paths: "none" };
}

/**
 * For the scripts: first what to do about paths, then one candidate a line with
 * its description after a tab.
 */
export function protocol({ values, paths }: Candidates): string {
  const lines = values.map(({ value, description }) => `${value}\t${description.replace(/\s+/g, " ")}`);
  return [paths, ...lines, ""].join("\n");
}
