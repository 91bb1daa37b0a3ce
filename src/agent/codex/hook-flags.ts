/**
 * Hooks for one process only: `-c hooks.<Event>=…`, and with them
 * `-c hooks.state=…`, which says that exactly these are trusted. The user's
 * hooks.json and config.toml stay as they are, and their hooks keep their own
 * trust: `--dangerously-bypass-hook-trust` would have trusted a project's too.
 *
 * Codex trusts a hook by the SHA-256 of its normalised form: JSON with sorted
 * keys of the event's label and one handler (seen in 0.166.0; `hooks/list` of
 * its app-server says "trusted"). If that form changes, Codex asks "Hooks need
 * review" at its start; rules/codex.toml recognises this.
 */
import { createHash } from "node:crypto";
import { shellQuote } from "../../platform/shell-quote.ts";
import { tomlText } from "./toml-value.ts";

/** The longest that Codex allows for Interrupt and SessionEnd; it cuts a longer one, and then the hash differs. */
const TIMEOUT_SECONDS = 3;

/** Where hooks from the command line are said to come from. */
const SOURCE = "/<session-flags>/config.toml";

const EVENTS = {
  SessionStart: "session_start",
  UserPromptSubmit: "user_prompt_submit",
  PermissionRequest: "permission_request",
  PostToolUse: "post_tool_use",
  Stop: "stop",
  Interrupt: "interrupt",
  SessionEnd: "session_end",
} as const;

/** Its own prompts fire no hook. */
export const REMINDER_HOOKS = { turnField: "turn_id", continuing: null } as const;

type Commands = Partial<Record<keyof typeof EVENTS, string>>;

/** `reminder`: the script that has the beginning and the end of a turn, where there are reminders. */
export function hookFlags(scriptPath: string, reminder: string | null = null): readonly string[] {
  const everywhere = Object.keys(EVENTS).map((event) => [event, shellQuote(scriptPath)]);
  return flagsOf({
    ...(Object.fromEntries(everywhere) as Commands),
    ...(reminder === null ? {} : reminderCommands(reminder)),
  });
}

/** Those alone, where Reeve is told by the protocol. */
export function reminderFlags(reminder: string): readonly string[] {
  return flagsOf(reminderCommands(reminder));
}

function reminderCommands(script: string): Commands {
  return { UserPromptSubmit: `${shellQuote(script)} begin`, Stop: `${shellQuote(script)} end` };
}

function flagsOf(commands: Commands): readonly string[] {
  const flags: string[] = [];
  const trusted: string[] = [];
  for (const [event, label] of Object.entries(EVENTS)) {
    const command = commands[event as keyof Commands];
    if (command === undefined) continue;
    const handler = `{type="command",command=${tomlText(command)},timeout=${TIMEOUT_SECONDS}}`;
    flags.push("-c", `hooks.${event}=[{hooks=[${handler}]}]`);
    trusted.push(`${tomlText(`${SOURCE}:${label}:0:0`)}={trusted_hash=${tomlText(hashOf(label, command))}}`);
  }
  return [...flags, "-c", `hooks.state={${trusted.join(",")}}`];
}

function hashOf(label: string, command: string): string {
  // The keys in alphabetical order: that order is part of what is hashed.
  const handler = { async: false, command, timeout: TIMEOUT_SECONDS, type: "command" };
  const normalised = JSON.stringify({ event_name: label, hooks: [handler] });
  return `sha256:${createHash("sha256").update(normalised).digest("hex")}`;
}
