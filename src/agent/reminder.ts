/**
 * The reminder at the end of a turn (`memory_reminder`, decision 70): where
 * nothing was remembered in it, the agent's own stop hook answers once with
 * "block" and a sentence, and the agent goes on with the same turn. A stop that
 * was answered so is not the end of the turn, and is not told to Reeve.
 *
 * Shell and two files in the session's directory decide, so no daemon is needed:
 *
 *   reminder-turn   the agent's name of the turn that began last; empty where it has none
 *   reminder-due    there while this turn is to be reminded of
 *
 * The hook at the beginning of a turn makes both. `reminder-due` is removed by
 * the daemon when the session remembers something (supervisor/memory), or by
 * the hook that gives the reminder. Only one hook succeeds in removing it, so
 * a turn has at most one reminder, whatever the agent says of its stops.
 */
import { join } from "node:path";
import { REMINDER_DUE } from "../session/session-directory.ts";
import type { PlannedFile } from "./contract.ts";

/** The tool that the reminder asks for: an agent that is reminded may call it unasked. */
export const REMEMBERING_TOOL = "add_memory";

/** Without quotes: it stands in JSON, in shell, and is compared with prompts. Whoever waits gets the last answer, hence its end. */
export const REMINDER = `You have remembered nothing in this turn: if something is worth keeping, remember it with ${REMEMBERING_TOOL} of reeve; then give your final answer again.`;

/**
 * Functions for a hook's script, which has what it was given in `$record`.
 * `turnField` names the turn in it: a second prompt in one turn does not begin
 * another. What runs in the background (Claude Code) goes on with the turn.
 */
export function reminderFunctions(turnField: string | null): string {
  const turn =
    turnField === null
      ? ""
      : String.raw`$(printf '%s\n' "$record" | sed -n 's/.*"${turnField}":"\([0-9A-Za-z-]*\)".*/\1/p')`;
  return `begin_turn() {
  turn=${turn}
  if [ -n "$turn" ] && [ "$turn" = "$(cat -- "\${0%/*}/reminder-turn")" ]; then return; fi
  printf '%s\\n' "$turn" >"\${0%/*}/reminder-turn" && printf '' >"\${0%/*}/${REMINDER_DUE}"
} 2>/dev/null
is_due() {
  case $record in *'"stop_hook_active":true'* | *'"background_tasks":[{'*) return 1 ;; esac
  rm -- "\${0%/*}/${REMINDER_DUE}" 2>/dev/null
}
remind() { printf '%s\\n' '${JSON.stringify({ decision: "block", reason: REMINDER })}'; }`;
}

export interface ReminderHooks {
  readonly turnField: string;
  /** A prompt that begins so is the agent's own, and goes on with the turn. */
  readonly continuing: string | null;
  /** Whether hook.sh is told of what is no reminder. */
  readonly isTold: boolean;
}

/** The hooks at the beginning (`reminder.sh begin`) and at the end (`reminder.sh end`) of a turn. */
export function reminderScript(sessionDir: string, { turnField, continuing, isTold }: ReminderHooks): PlannedFile {
  const begin =
    continuing === null ? "begin_turn" : `case $record in *'"prompt":"${continuing}'*) ;; *) begin_turn ;; esac`;
  const content = `#!/bin/sh
umask 077
${reminderFunctions(turnField)}
record=$(cat)
case $1 in
  begin) ${begin} ;;
  end) if is_due; then remind; exit 0; fi ;;
esac
${isTold ? `printf '%s\\n' "$record" | "\${0%/*}/hook.sh"\n` : ""}exit 0
`;
  return { path: join(sessionDir, "reminder.sh"), content, isExecutable: true };
}
