/**
 * A command as data: what it is called, takes and does. Help, usage errors and
 * completion are all made from it, so they cannot disagree.
 */
import type { Client, ClientOptions } from "../../client/create-client.ts";
import type { Output } from "./output.ts";

/** What a shell may offer for a value. */
export type Completion = "session" | "work" | "command" | "file" | "directory" | readonly string[];

export interface OptionSpec {
  /** Without its dashes. */
  readonly name: string;
  readonly summary: string;
  /** One letter, for `-f`. */
  readonly short?: string;
  /** What its value is called; an option without one is a flag. */
  readonly value?: string;
  /** A count is a whole number from 1 on, a cursor one from 0 on. */
  readonly type?: "text" | "number" | "count" | "cursor";
  /** The largest value of a count. */
  readonly most?: number;
  readonly choices?: readonly string[];
  readonly isRepeatable?: boolean;
  readonly completion?: Completion;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly isOptional?: boolean;
  /** One or more of them; only the last argument may be. */
  readonly isRepeated?: boolean;
  readonly choices?: readonly string[];
  readonly completion?: Completion;
}

/** One of the things that a command does: `reeve work add`. */
export interface ActionSpec {
  readonly summary: string;
  /** The words after it, as help shows them. */
  readonly words: string;
  /** How many of them it takes. */
  readonly least: number;
  readonly most: number;
  /** What is missing if there are too few. */
  readonly needs?: string;
  /** Those of the command's options that it takes. */
  readonly options: readonly string[];
  /** Of its first word. */
  readonly completion?: Completion;
}

export interface CliCommand {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** By the first argument; the first of them is what it does without one. */
  readonly actions?: Readonly<Record<string, ActionSpec>>;
  /** What follows `--`, where that is not simply more arguments. */
  readonly rest?: string;
  /** Sentences below the summary. */
  readonly notes?: readonly string[];
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  readonly isHidden?: boolean;
  /** It changes something that must not be changed twice, and takes a key by which a repeat is known. */
  readonly takesKey?: true;
  /** Another program may take its place, and that one decides when to end. */
  readonly handsOver?: true;
  /** Returns the exit status. */
  run(input: CommandInput, context: CliContext): Promise<number>;
}

export interface CommandInput {
  readonly arguments: readonly string[];
  readonly rest: readonly string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  number(name: string): number | undefined;
  texts(name: string): readonly string[];
}

export interface CliContext {
  /** `environment`: instead of this process's own. */
  client(
    options?: Pick<
      ClientOptions,
      "autostart" | "idempotencyKey" | "isChecked" | "onNotice" | "onUnreadMail" | "surface"
    > & {
      readonly environment?: CliContext["environment"];
    },
  ): Client;
  readonly output: Output;
  readonly isJson: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What to say when Ctrl-C ends the command. */
  onInterrupt(sentence: () => string | null): void;
  /** Of the caller; throws when it no longer exists. */
  cwd(): string;
  /** Where this Reeve is installed. */
  readonly root: string;
  /** The file by which it was called. */
  readonly program: string;
  readonly commands: readonly CliCommand[];
}

/** All that a command takes, or that goes with these options of it. */
export function optionsOf(command: CliCommand, own: readonly OptionSpec[] = command.options): readonly OptionSpec[] {
  return [...own, ...(command.takesKey === true ? [KEY_OPTION] : []), ...COMMON_OPTIONS];
}

const KEY_OPTION: OptionSpec = {
  name: "idempotency-key",
  value: "KEY",
  summary: "a key of your choice: if you repeat the command with the same key, it is done once",
};

const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: "json", summary: "print exactly one JSON object, with the field names of the HTTP API" },
  { name: "help", short: "h", summary: "show this help" },
];
