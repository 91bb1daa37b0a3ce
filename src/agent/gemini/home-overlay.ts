/**
 * Where Gemini CLI keeps its files, and the home of its own that a session gets.
 *
 * Hooks and settings can be added to one process only through its home: the
 * system settings (GEMINI_CLI_SYSTEM_SETTINGS_PATH) are skipped unless the
 * file and every directory above it belong to root (seen in 0.61.0). So
 * GEMINI_CLI_HOME points to a directory of the session whose `.gemini` holds
 * a settings.json of its own (settings-overlay.ts) and links to everything
 * else of the user's: log-in, trust, extensions, policies, and `tmp`, where the
 * conversations stay.
 */
import { join } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Launch } from "../../session/session.ts";

export const PATH_VARIABLES = ["HOME", "GEMINI_CLI_HOME", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"] as const;

const OVERLAY_NAME = "reeve-gemini-home";

export function overlayHomeOf(sessionDir: string): string {
  return join(sessionDir, OVERLAY_NAME);
}

/** The user's `.gemini`; null when the launch does not say where it is. */
export function userDirOf(launch: Launch): string | null {
  const { HOME: home, GEMINI_CLI_HOME: own } = launch.paths;
  // A session that an agent in another session started inherits that one's overlay.
  const chosen = own === undefined || own === "" || own.endsWith(`/${OVERLAY_NAME}`) ? home : own;
  return chosen === undefined || chosen === "" ? null : join(chosen, ".gemini");
}

export function requireUserDir(launch: Launch): string {
  const dir = userDirOf(launch);
  if (dir !== null) return dir;
  throw new ReeveError({
    code: "gemini-home-unknown",
    kind: "usage",
    message: "Gemini CLI finds its log-in by HOME, which is not set: set HOME and start again.",
  });
}

/** A path below an overlay's `tmp` as the path of the user's own file, which it is a link to. */
export function userPathOf(path: string, launch: Launch): string {
  const mark = `/${OVERLAY_NAME}/.gemini/tmp/`;
  const at = path.lastIndexOf(mark);
  const dir = userDirOf(launch);
  return at === -1 || dir === null ? path : join(dir, "tmp", path.slice(at + mark.length));
}
