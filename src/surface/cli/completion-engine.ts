/** Completion by @bomb.sh/tab, fed from the table of commands. Loaded only when a shell asks. */
import { RootCommand } from "@bomb.sh/tab";
import { optionsOf } from "./command.ts";
import type { Command, Completion } from "./command.ts";

export type Shell = "bash" | "zsh" | "fish";

export function completionScript(shell: Shell): string {
  return printed(() => new RootCommand().setup("reeve", "reeve", shell));
}

/** What fits the words typed so far; the last of them is the one being typed. */
export function completions(
  commands: readonly Command[],
  sessions: readonly string[],
  words: readonly string[],
): string {
  const root = new RootCommand();
  const offer = (completion: Completion | undefined) => (complete: (value: string, description: string) => void) => {
    for (const value of completion === "session" ? sessions : typeof completion === "object" ? completion : [])
      complete(value, "");
  };
  for (const command of commands.filter((candidate) => candidate.isHidden !== true)) {
    const entry = root.command(command.name, command.summary);
    for (const argument of command.arguments)
      entry.argument(argument.name, offer(argument.choices ?? argument.completion), argument.isRepeated ?? false);
    for (const option of optionsOf(command)) {
      if (option.value === undefined) entry.option(option.name, option.summary);
      else entry.option(option.name, option.summary, offer(option.choices ?? option.completion));
    }
  }
  return printed(() => root.parse([...words]));
}

/** The library prints; here printing is the caller's business. */
function printed(print: () => void): string {
  const lines: string[] = [];
  const { log } = console;
  console.log = (line: unknown) => void lines.push(String(line));
  try {
    print();
  } finally {
    console.log = log;
  }
  return `${lines.join("\n")}\n`;
}
