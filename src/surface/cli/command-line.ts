/** Parses and checks the words of a command line. Pure; every refusal is one sentence that says what to do. */
import type { ReeveError } from "../../platform/reeve-error.ts";
import { requireFitting } from "./command-action.ts";
import { optionsOf } from "./command.ts";
import type { ArgumentSpec, CliCommand, CommandInput, OptionSpec } from "./command.ts";
import { didYouMean } from "./suggestion.ts";
import { usageLine } from "./help.ts";
import { usage } from "./usage.ts";

export interface ParsedLine {
  readonly input: CommandInput;
  readonly isJson: boolean;
  readonly wantsHelp: boolean;
}

/** Only this looks like an option; "- fix it" and "--help me" (with a space) are text. */
const OPTION = /^(?:-[A-Za-z]|--[A-Za-z][A-Za-z0-9-]*(?:=[^]*)?)$/;

export function findCommand(commands: readonly CliCommand[], name: string): CliCommand {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const names = commands.filter((candidate) => candidate.isHidden !== true).map((candidate) => candidate.name);
  throw usage("unknown-command", `There is no command "${name}"; ${didYouMean(name, names) ?? "see reeve help"}.`);
}

export function parseLine(command: CliCommand, words: readonly string[]): ParsedLine {
  const specs = optionsOf(command);
  const given = new Map<string, string[]>();
  const before: string[] = [];
  let after: readonly string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      after = words.slice(at + 1);
      break;
    }
    if (!OPTION.test(word)) {
      before.push(word);
      continue;
    }
    const [name, inline] = splitOption(word);
    const spec = specs.find(({ name: long, short }) => `--${long}` === name || `-${short}` === name);
    if (spec === undefined) throw unknownOption(command, name, specs);
    const values = given.get(spec.name) ?? [];
    if (values.length > 0 && spec.isRepeatable !== true && spec.value !== undefined)
      throw usage("option-twice", `--${spec.name} was given twice; give it once.`);
    given.set(spec.name, values);
    if (spec.value === undefined) {
      if (inline !== undefined)
        throw usage("unexpected-value", `--${spec.name} takes no value; leave out "=${inline}".`);
      values.push("");
      continue;
    }
    const value = inline ?? words[++at];
    if (value === undefined || (inline === undefined && OPTION.test(value)))
      throw usage("missing-value", `--${spec.name} needs a value: --${spec.name} ${spec.value}.`);
    values.push(checkedValue(spec, value));
  }
  const wantsHelp = given.has("help");
  const positional = command.rest === undefined ? [...before, ...after] : before;
  if (!wantsHelp) {
    checkArguments(command, positional);
    requireFitting(command, positional, new Set(given.keys()));
  }
  return {
    input: inputOf(positional, command.rest === undefined ? [] : after, given),
    isJson: given.has("json"),
    wantsHelp,
  };
}

function splitOption(word: string): [string, string?] {
  const equals = word.indexOf("=");
  return equals < 0 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}

function checkedValue(spec: OptionSpec, value: string): string {
  if (spec.type === "number" && !/^-?\d{1,15}(?:\.\d+)?$/.test(value))
    throw usage("bad-value", `--${spec.name} takes a number, not "${value}".`);
  if (spec.type === "count" && !isCount(value, spec.most))
    throw usage(
      "bad-value",
      `--${spec.name} takes a whole number from 1 ${spec.most === undefined ? "on" : `to ${spec.most}`}, not "${value}".`,
    );
  if (spec.type === "cursor" && !/^\d{1,15}$/.test(value))
    throw usage("bad-value", `--${spec.name} takes a cursor from an earlier answer, a whole number, not "${value}".`);
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    const near = didYouMean(value, spec.choices);
    throw usage(
      "bad-value",
      `--${spec.name} takes one of ${spec.choices.join(", ")}, not "${value}"${near === null ? "" : `; ${near}`}.`,
    );
  }
  return value;
}

function isCount(value: string, most = 999_999_999): boolean {
  return /^[1-9]\d{0,8}$/.test(value) && Number(value) <= most;
}

function checkArguments(command: CliCommand, positional: readonly string[]): void {
  for (const [index, spec] of command.arguments.entries()) {
    const value = positional[index];
    if (value === undefined && spec.isOptional !== true)
      throw usage("missing-argument", `${command.name} needs ${article(spec)}; usage: ${usageLine(command)}`);
    if (value === undefined || spec.choices === undefined || spec.choices.includes(value)) continue;
    const isLater = positional.slice(index + 1).some((word) => spec.choices?.includes(word));
    const hint = isLater
      ? `the ${spec.name} comes first: ${usageLine(command)}`
      : (didYouMean(value, spec.choices) ?? `use one of ${spec.choices.join(", ")}`);
    throw usage("bad-value", `"${value}" is not ${article(spec)} of ${command.name}; ${hint}.`);
  }
  const last = command.arguments.at(-1);
  const extra = positional[command.arguments.length];
  if (extra === undefined || last?.isRepeated === true) return;
  const hint = command.arguments.length === 0 ? "leave it out" : "put text with spaces in quotes";
  throw usage(
    "unexpected-argument",
    `${command.name} does not know what to do with "${extra}"; ${hint}. Usage: ${usageLine(command)}`,
  );
}

function inputOf(
  positional: readonly string[],
  rest: readonly string[],
  given: ReadonlyMap<string, readonly string[]>,
): CommandInput {
  const last = (name: string): string | undefined => given.get(name)?.at(-1);
  return {
    arguments: positional,
    rest,
    flag: (name) => given.has(name),
    text: last,
    number: (name) => (last(name) === undefined ? undefined : Number(last(name))),
    texts: (name) => given.get(name) ?? [],
  };
}

function unknownOption(command: CliCommand, option: string, specs: readonly OptionSpec[]): ReeveError {
  const hint =
    didYouMean(
      option,
      specs.map((spec) => `--${spec.name}`),
    ) ?? `see reeve ${command.name} --help`;
  return usage("unknown-option", `${command.name} has no option ${option}; ${hint}.`);
}

function article(spec: ArgumentSpec): string {
  return /^[aeiou]/.test(spec.name) ? `an ${spec.name}` : `a ${spec.name}`;
}
