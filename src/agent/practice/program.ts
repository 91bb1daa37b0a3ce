/**
 * The practice program: an interactive stand-in for a coding agent, run in a
 * session's terminal. It starts nothing and changes nothing; it writes only
 * its transcript and its hooks.
 *
 * Exit status: 0 when it was asked to leave, 2 for a bad command line, 70 after
 * `crash`, 128 + the signal's number after SIGHUP and SIGTERM.
 */
import { systemClock } from "../../platform/clock.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Dialogue } from "./dialogue.ts";
import { summaryOf } from "./fit-text.ts";
import { type Journal, openJournal } from "./journal.ts";
import { lineDialogue } from "./line-dialogue.ts";
import { parseProgramOptions, type ProgramOptions } from "./program-options.ts";
import { pretendedLimit } from "./pretended-limit.ts";
import { terminalDialogue } from "./terminal-dialogue.ts";
import { runTurn } from "./turn.ts";
import { SCRIPT_HELP, scriptOf } from "./turn-script.ts";

const CRASH_STATUS = 70;

try {
  await converse(parseProgramOptions(process.argv.slice(2), process.env));
} catch (error) {
  if (!(error instanceof ReeveError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(error.exitStatus);
}

async function converse(options: ProgramOptions): Promise<void> {
  const hangUp = (): void => end("SIGHUP", 129);
  const dialogue: Dialogue =
    process.stdin.isTTY && process.stdout.isTTY
      ? terminalDialogue(process.stdin, process.stdout, hangUp)
      : lineDialogue(process.stdin, process.stdout);
  const journal: Journal = openJournal({ ...options, onTrouble: (message) => dialogue.say(`! ${message}`) });

  let ending = false;
  function end(why: string, status: number): void {
    if (ending) return;
    ending = true;
    journal.sessionEnded(why);
    dialogue.close();
    process.exit(status);
  }
  process.on("SIGTERM", () => end("SIGTERM", 143));
  process.on("SIGHUP", hangUp);
  process.on("SIGINT", () => dialogue.interrupt());
  process.stdout.on("error", hangUp);

  greet(dialogue, options, journal.earlierTurns);
  journal.sessionStarted();

  const limit = pretendedLimit();
  let prompt = options.prompt?.trim() ? options.prompt : await dialogue.nextPrompt();
  while (prompt !== null) {
    const script = scriptOf(prompt);
    if (script.type === "quit") break;
    await runTurn(prompt, limit.apply(prompt.trim(), script, Date.now()), {
      dialogue,
      journal,
      clock: systemClock,
      paceMs: options.paceMs,
      crash,
    });
    prompt = await dialogue.nextPrompt();
  }
  end("quit", 0);

  function crash(): never {
    dialogue.say("Crashing, as asked.");
    dialogue.close();
    process.exit(CRASH_STATUS);
  }
}

function greet(dialogue: Dialogue, { conversation, resume, prompt }: ProgramOptions, earlierTurns: number): void {
  dialogue.say(`Practice agent, conversation ${conversation}`);
  if (resume) dialogue.say(`Resumed; earlier turns: ${earlierTurns}.`);
  dialogue.say(SCRIPT_HELP);
  if (prompt?.trim()) dialogue.say(`› ${summaryOf(prompt, 500)}`);
}
