/** Help as text, from the table of commands. */
import { actionOf, optionsOfAction } from "./command-action.ts";
import { optionsOf } from "./command.ts";
import type { ArgumentSpec, CliCommand, OptionSpec } from "./command.ts";

/** What `reeve help` explains besides commands; the texts are in help-topics.ts. */
export const HELP_TOPICS = ["exit-codes", "environment", "files", "settings"] as const;
export type HelpTopic = (typeof HELP_TOPICS)[number];

export function overview(commands: readonly CliCommand[]): string {
  const shown = commands.filter((command) => command.isHidden !== true);
  return [
    "Reeve runs coding agents side by side, shows who needs you, and tells scripts the truth.",
    "",
    "Usage: reeve <command> [arguments] [options]",
    "",
    ...columns(shown.map((command) => [command.name, command.summary])),
    "",
    "On a terminal, reeve without a command opens a live board of all sessions. To try Reeve: reeve demo",
    "reeve <command> --help shows arguments, options and examples.",
    "Other names: ls and ps (list), status (list, with a session explain), new (start), logs (data), stop and kill (end).",
    `More help: ${HELP_TOPICS.map((topic) => `reeve help ${topic}`).join(", ")}.`,
    "",
  ].join("\n");
}

/** Of one of its actions, if `word` names one. */
export function commandHelp(command: CliCommand, word?: string): string {
  const action = word === undefined ? null : actionOf(command, word);
  return action === null ? wholeHelp(command) : actionHelp(command, action.name, action.spec.summary);
}

function wholeHelp(command: CliCommand): string {
  const actions = Object.entries(command.actions ?? {});
  return [
    sentence(command.summary),
    "",
    `Usage: ${usageLine(command)}`,
    ...(command.notes === undefined ? [] : ["", ...command.notes]),
    ...(actions.length === 0
      ? []
      : [
          "",
          `Actions (reeve ${command.name} ACTION --help shows one with its options):`,
          ...columns(actions.map(([name, { words, summary }]) => [`${name} ${words}`.trimEnd(), summary])),
        ]),
    ...optionLines(optionsOf(command)),
    ...exampleLines(command.examples),
    "",
  ].join("\n");
}

function actionHelp(command: CliCommand, name: string, summary: string): string {
  const called = `reeve ${command.name} ${name}`;
  return [
    sentence(summary),
    "",
    `Usage: ${usageLine(command, name)}`,
    ...optionLines(optionsOf(command, optionsOfAction(command, name))),
    ...exampleLines(command.examples.filter(({ line }) => `${line} `.includes(`${called} `))),
    "",
    `More about it: reeve ${command.name} --help`,
    "",
  ].join("\n");
}

function optionLines(options: readonly OptionSpec[]): readonly string[] {
  return ["", "Options:", ...columns(options.map((option) => [optionName(option), describe(option)]))];
}

function exampleLines(examples: CliCommand["examples"]): readonly string[] {
  if (examples.length === 0) return [];
  return ["", "Examples:", ...columns(examples.map(({ line, does }) => [line, does]))];
}

/** Of one of its actions, if `word` names one. */
export function usageLine(command: CliCommand, word?: string): string {
  const action = word === undefined ? null : actionOf(command, word);
  if (action !== null)
    return ["reeve", command.name, action.name, action.spec.words, "[options]"].filter((part) => part !== "").join(" ");
  const parts = [
    ...command.arguments.map(argumentName),
    "[options]",
    ...(command.rest === undefined ? [] : [`[-- ${command.rest}]`]),
  ];
  return `reeve ${command.name} ${parts.join(" ")}`;
}

function argumentName(argument: ArgumentSpec): string {
  const name = `${argument.choices?.join("|") ?? argument.name}${argument.isRepeated === true ? "..." : ""}`;
  return argument.isOptional === true ? `[${name}]` : `<${name}>`;
}

function optionName(option: OptionSpec): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  return `${short}--${option.name}${option.value === undefined ? "" : ` ${option.value}`}`;
}

function describe(option: OptionSpec): string {
  const choices = option.choices === undefined ? "" : ` (${option.choices.join(", ")})`;
  return `${option.summary}${choices}${option.isRepeatable === true ? "; may be repeated" : ""}`;
}

export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
