/**
 * What a command with several actions does with its first word: `reeve work add`. Which options and words each action
 * takes is data, so that refusals, help and completion agree.
 */
import type { ActionSpec, CliCommand, OptionSpec } from "./command.ts";
import { usage } from "./usage.ts";

/** The action that a line names; without one it is the first of the table. Null for a command without actions. */
export function actionOf(
  { actions }: CliCommand,
  first: string | undefined,
): { readonly name: string; readonly spec: ActionSpec } | null {
  if (actions === undefined) return null;
  const name = first ?? Object.keys(actions)[0] ?? "";
  const spec = Object.hasOwn(actions, name) ? actions[name] : undefined;
  return spec === undefined ? null : { name, spec };
}

export function requireFitting(command: CliCommand, positional: readonly string[], given: ReadonlySet<string>): void {
  const action = actionOf(command, positional[0]);
  if (action === null) return;
  const called = `${command.name} ${action.name}`;
  const { options, least, most, needs } = action.spec;
  const foreign = command.options.find(({ name }) => given.has(name) && !options.includes(name))?.name;
  if (foreign !== undefined) {
    const owners = Object.entries(command.actions ?? {}).filter(([, other]) => other.options.includes(foreign));
    const names = owners.map(([name]) => `${command.name} ${name}`).join(" and ");
    throw usage("unknown-option", `${called} has no option --${foreign}; it belongs to ${names}.`);
  }
  const words = positional.slice(1);
  if (words.length < least)
    throw usage("missing-argument", `${called} needs ${needs ?? "more"}; see reeve ${called} --help.`);
  if (words.length > most)
    throw usage(
      "unexpected-argument",
      `${called} does not know what to do with "${words[most]}"; put text with spaces in quotes.`,
    );
}

/** The options of one action. Of a summary such as `list: only these; add, edit: the role` only its own part is left. */
export function optionsOfAction(command: CliCommand, name: string): readonly OptionSpec[] {
  const { actions = {}, options } = command;
  const isAction = (word: string): boolean => Object.hasOwn(actions, word);
  const ownPart = (summary: string): string => {
    const parts = summary.split("; ").flatMap((part) => {
      const [, owners = "", text = ""] = /^([a-z, -]+): (.*)$/.exec(part) ?? [];
      const owning = owners.split(", ");
      if (!owning.every(isAction)) return [part];
      return owning.includes(name) ? [text] : [];
    });
    return parts.join("; ");
  };
  return options
    .filter((option) => actions[name]?.options.includes(option.name))
    .map((option) => ({ ...option, summary: ownPart(option.summary) }));
}
