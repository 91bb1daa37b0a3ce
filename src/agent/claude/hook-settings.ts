/**
 * The settings that Reeve gives to one Claude Code process: Reeve's hooks,
 * added to what the user gave with `--settings`. They must be one file, because
 * Claude Code uses only the last of several `--settings` (seen in 2.1.325). The
 * user's settings files stay where they are and keep their own hooks: Claude
 * Code joins the lists of hooks from several sources.
 */
import { shellQuote } from "../../platform/shell-quote.ts";
import { type Fields, fieldsOrNull } from "../../platform/json-fields.ts";

/** A shell script that takes milliseconds; an agent must never wait long for it. */
const HOOK_TIMEOUT_S = 10;

/** Tools that ask, or may ask first; the others' results would only be copied about. */
const ASKING_TOOLS =
  "Bash|Edit|MultiEdit|Write|NotebookEdit|WebFetch|WebSearch|Skill|mcp__.*|AskUserQuestion|EnterPlanMode|ExitPlanMode";

/** No PreCompact or PostCompact: Claude Code shows the user that they ran. */
const EVENTS = {
  SessionStart: null,
  UserPromptSubmit: null,
  PermissionRequest: null,
  PostToolUse: ASKING_TOOLS,
  PostToolUseFailure: ASKING_TOOLS,
  Notification: "elicitation_dialog|elicitation_url_dialog|agent_needs_input",
  SubagentStart: null,
  SubagentStop: null,
  Stop: null,
  StopFailure: null,
} as const satisfies Record<string, string | null>;

export interface OwnScripts {
  /** Has the beginning and the end of a turn, where there are reminders. */
  readonly reminder?: string | null;
  /** Waits at the start for Reeve's tools; no prompt is taken before it has ended. */
  readonly awaitsTools?: string | null;
}

export function withHooks(
  settings: Fields,
  hookScriptPath: string,
  { reminder = null, awaitsTools = null }: OwnScripts = {},
): Fields {
  const users = fieldsOrNull(settings["hooks"]) ?? {};
  const hooks: Record<string, unknown> = { ...users };
  for (const [event, matcher] of Object.entries(EVENTS)) {
    const before: unknown = users[event];
    const waits = event === "SessionStart" && awaitsTools !== null ? [shellQuote(awaitsTools)] : [];
    const commands = [commandFor(event, hookScriptPath, reminder), ...waits];
    const ours = {
      ...(matcher === null ? {} : { matcher }),
      hooks: commands.map((command) => ({ type: "command", command, timeout: HOOK_TIMEOUT_S })),
    };
    hooks[event] = [...(Array.isArray(before) ? (before as readonly unknown[]) : []), ours];
  }
  return { ...settings, hooks };
}

/**
 * The record of a permission request has neither an id nor a time, and the
 * same command may be asked for twice in one turn: so this one is wrapped,
 * with the time it was asked.
 */
function commandFor(event: string, hookScriptPath: string, reminder: string | null): string {
  if (reminder !== null && event === "UserPromptSubmit") return `${shellQuote(reminder)} begin`;
  if (reminder !== null && event === "Stop") return `${shellQuote(reminder)} end`;
  const script = shellQuote(hookScriptPath);
  if (event !== "PermissionRequest") return script;
  return `{ printf '{"at":%s,"record":' "$(date +%s%3N)"; cat; printf '}'; } | ${script}`;
}
