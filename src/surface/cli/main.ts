/**
 * The command line. Called by bin/reeve, which knows where Reeve is installed.
 * It parses, asks the daemon and shows the answer; all decisions are made in
 * the daemon.
 */
import { createClient } from "../../client/create-client.ts";
import type { UnreadMailCount } from "../../client/request.ts";
import { daemonCommand } from "../../client/daemon-command.ts";
import { unalias } from "./aliases.ts";
import { answer } from "./answer.ts";
import { findCommand, parseLine } from "./command-line.ts";
import { usage } from "./usage.ts";
import { boardCommand, whyNoBoard } from "./command/board.ts";
import type { CliContext } from "./command.ts";
import { commands } from "./commands.ts";
import { INTERRUPTED, UNREAD } from "./exit-codes.ts";
import { tellFailure } from "./failure.ts";
import { commandHelp, overview } from "./help.ts";
import { standardOutput } from "./output.ts";
import { versionOf } from "./version.ts";
import { unreadSentence } from "./unread-sentence.ts";
import { workingDirectory } from "./working-directory.ts";

/** Returns the exit status; never throws. */
export async function main(
  words: readonly string[],
  installation: { readonly root: string; readonly program: string },
): Promise<number> {
  const output = standardOutput(process.env);
  const lastWords: (() => string | null)[] = [];
  process.once("SIGINT", () => {
    for (const sentence of lastWords.flatMap((say) => say() ?? [])) output.note(sentence);
    process.exit(INTERRUPTED);
  });
  let unread: UnreadMailCount | null = null;
  const context: CliContext = {
    client: ({ environment = process.env, ...options } = {}) =>
      createClient(
        {
          surface: "cli",
          onNotice: (sentence) => output.note(sentence),
          onUnreadMail: (count) => {
            unread = count;
          },
          ...options,
        },
        { daemonCommand: () => daemonCommand(installation.root), environment },
      ),
    output,
    isJson: asksFor(words, "--json"),
    environment: process.env,
    onInterrupt: (sentence) => void lastWords.push(sentence),
    cwd: workingDirectory,
    ...installation,
    commands,
  };
  try {
    return await dispatch(words, context);
  } catch (error) {
    return tellFailure(error, output, context.isJson);
  } finally {
    const sentence = isSilent(words) ? null : unreadSentence(unread);
    if (sentence !== null) output.note(sentence);
  }
}

/** A program reads its output, or nothing more is wanted; `reeve mail check` has told it already. */
function isSilent(words: readonly string[]): boolean {
  const [command, action = "check"] = words;
  const isCheck = command === "mail" && (action === "check" || action.startsWith("-"));
  return isCheck || asksFor(words, "--json") || asksFor(words, "--quiet") || asksFor(words, "-q");
}

async function dispatch(words: readonly string[], context: CliContext): Promise<number> {
  const [given, ...rest] = unalias(words.filter((word, index) => !(index === 0 && word === "--json")));
  const name = given ?? (context.isJson || whyNoBoard(context.environment) !== null ? "--help" : boardCommand.name);
  if (name === "--help" || name === "-h") {
    context.output.print(overview(commands));
    return 0;
  }
  if (name === "--version" || name === "-V" || name === "-v") {
    const version = versionOf(context.root);
    answer(context, { version }, () => version);
    return 0;
  }
  const command = findCommand(commands, name);
  const line = parseLine(command, rest);
  if (line.wantsHelp) {
    context.output.print(commandHelp(command, line.input.arguments[0]));
    return 0;
  }
  if (command.handsOver !== true) leaveWhenUnread();
  if (command.takesKey !== true) return await command.run(line.input, context);
  // One key for the whole command: when the daemon is lost for good, the error tells it.
  const idempotencyKey = keyOf(line.input.text("idempotency-key"));
  const client: CliContext["client"] = (options = {}) => context.client({ ...options, idempotencyKey });
  return await command.run(line.input, { ...context, client });
}

/** Most commands are over before this is worth loading. */
const FIRST_LOOK_MS = 1_000;

function leaveWhenUnread(): void {
  const parent = process.ppid;
  setTimeout(() => {
    void import("./reader-watch.ts").then(({ watchReader }) => watchReader(parent, () => process.exit(UNREAD)));
  }, FIRST_LOOK_MS).unref();
}

/** Visible ASCII, as the HTTP header takes it; room is left for what the client adds. */
function keyOf(given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID();
  if (/^[\x21-\x7e]{1,128}$/.test(given)) return given;
  throw usage("bad-value", "--idempotency-key takes 1 to 128 visible ASCII characters.");
}

/** Known before the line is understood, so that what is wrong with it is told in JSON too. */
function asksFor(words: readonly string[], option: string): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end < 0 ? words.length : end).includes(option);
}
