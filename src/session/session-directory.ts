/**
 * The names of the files in a session's own directory, except `state.json` (`store/state-file.ts`).
 * docs/spec/session-directory.md says what they hold.
 */
import { join } from "node:path";
import type { Session } from "./session.ts";

/** Where an agent's hooks leave their records. */
export function spoolDirOf(outputsDir: string): string {
  return join(outputsDir, "spool");
}

/** Where an agent writes what it captures itself. */
export function nativeDirOf(outputsDir: string): string {
  return join(outputsDir, "native");
}

/** The home directory of a session in a container. */
export function homeDirOf(outputsDir: string): string {
  return join(outputsDir, "agent-home");
}

/** The last screen before its place was removed. */
export function finalScreenPath(session: Session): string {
  return join(session.identity.outputsDir, "screen.txt");
}

/** There while nothing was remembered in the turn under way, with `memory_reminder` (agent/reminder.ts). */
export const REMINDER_DUE = "reminder-due";

/** With `--persist-session`. */
export const SESSION_LOG = "session.log";
export const META_LOG = "session_meta.log";
export const RAW_LOG = "session_oai_raw.log";
export const RECORDING = "terminal.cast";
export const RUNTIME_FILE = "runtime.json";
export const NATIVE_DIR = "native";
/** Where the agent's own transcript has no name of its own that tells which it is. */
export const TRANSCRIPT_LINK = "transcript.jsonl";

const RESERVED = new Set([
  "state.json",
  "output.log",
  "screen.txt",
  "spool",
  "agent-home",
  SESSION_LOG,
  META_LOG,
  RAW_LOG,
  RECORDING,
  RUNTIME_FILE,
  NATIVE_DIR,
  TRANSCRIPT_LINK,
]);

/** Whether a name in a session's directory is one of Reeve's. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name.replace(/\.(?:\d+|held|copy|open)$/, "")) || name.startsWith("rollout-");
}
