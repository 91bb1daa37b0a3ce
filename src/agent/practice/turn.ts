/** One turn of the practice agent, from the prompt to its end. */
import type { Clock } from "../../platform/clock.ts";
import type { Dialogue } from "./dialogue.ts";
import type { HookLimit } from "./hook-record.ts";
import type { Journal } from "./journal.ts";
import type { TurnScript } from "./turn-script.ts";
import { summaryOf } from "./fit-text.ts";

export interface TurnContext {
  readonly dialogue: Dialogue;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly paceMs: number;
  /** Ends the process as a crash would: no line, no hook. */
  readonly crash: () => never;
}

export type PlayableScript = Exclude<TurnScript, { type: "quit" | "limit" }> | Refusal;

/** Every prompt before the limit resets ends so. */
export interface Refusal {
  readonly type: "refusal";
  readonly error: string;
  readonly limit: HookLimit;
}

/** Lines printed between two looks at the keyboard. */
const SPAM_BATCH = 100;

export async function runTurn(prompt: string, script: PlayableScript, context: TurnContext): Promise<void> {
  const { dialogue, journal } = context;
  const interruption = new AbortController();
  dialogue.beginTurn(() => interruption.abort());
  journal.turnStarted(prompt);
  try {
    if (script.type === "fail" || script.type === "refusal") {
      await context.clock.sleep(context.paceMs, interruption.signal);
      dialogue.say(`✗ ${script.error}`);
      if (script.type === "fail") journal.turnFailed(script.error, script.failure);
      else journal.turnFailed(script.error, "rate-limit", script.limit);
    } else {
      const limit =
        script.type === "used" ? { name: "requests", usedPercent: script.percent, resetsAt: null } : undefined;
      journal.turnCompleted(await play(script, context, interruption.signal), limit);
    }
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    dialogue.say("Interrupted.");
    journal.turnInterrupted();
  } finally {
    dialogue.endTurn();
  }
}

/** Plays the script and returns the reply. */
async function play(
  script: Exclude<PlayableScript, { type: "fail" | "refusal" }>,
  context: TurnContext,
  signal: AbortSignal,
): Promise<string> {
  const { clock, paceMs } = context;
  switch (script.type) {
    case "reply":
    case "used":
      return stream(script.lines, paceMs, context, signal);
    case "sleep":
      return stream(script.lines, script.ms, context, signal);
    case "ask":
      return askFirst(script.commands, context, signal);
    case "spam":
      return spam(script.count, context, signal);
    case "crash":
      await clock.sleep(paceMs / 2, signal);
      return context.crash();
  }
}

async function stream(
  lines: readonly string[],
  durationMs: number,
  { dialogue, clock }: TurnContext,
  signal: AbortSignal,
): Promise<string> {
  for (const line of lines) {
    await clock.sleep(durationMs / lines.length, signal);
    dialogue.say(`● ${line}`);
  }
  return lines.join("\n");
}

/** All questions are open from the first on, and put one after the other. */
async function askFirst(commands: readonly string[], context: TurnContext, signal: AbortSignal): Promise<string> {
  const { dialogue, journal, clock, paceMs } = context;
  await clock.sleep(paceMs / 2, signal);
  const asked = commands.map((command) => ({ command, shown: summaryOf(command, 200) }));
  for (const { shown } of asked) journal.approvalRequested(questionAbout(shown));
  const replies: string[] = [];
  for (const { command, shown } of asked) {
    const approved = await dialogue.ask(questionAbout(shown), signal);
    journal.approvalAnswered(approved);
    if (approved) {
      await clock.sleep(paceMs / 4, signal);
      dialogue.say(`$ ${shown}\n  (practice: only said, not run)`);
      journal.toolRan(`$ ${command}`);
    }
    replies.push(approved ? `I ran "${shown}".` : `I did not run "${shown}".`);
  }
  return stream(replies, paceMs / 4, context, signal);
}

function questionAbout(shown: string): string {
  return `Run "${shown}"?`;
}

async function spam(count: number, context: TurnContext, signal: AbortSignal): Promise<string> {
  for (let printed = 0; printed < count; printed += SPAM_BATCH) {
    const size = Math.min(SPAM_BATCH, count - printed);
    const batch = Array.from({ length: size }, (_, index) => `spam ${printed + index + 1} of ${count}`);
    context.dialogue.say(batch.join("\n"));
    await context.clock.sleep(0, signal);
  }
  return stream([`Printed ${count} lines.`], context.paceMs / 4, context, signal);
}
