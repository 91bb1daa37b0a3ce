/**
 * Variables by which a program tells its children which session they are in. A
 * session that inherited another's would misjudge itself: Claude Code with an
 * inherited CLAUDE_CODE_CHILD_SESSION, for one, writes no transcript. So Reeve
 * removes them from the environment of a new session.
 *
 * This table is for programs that have no adapter here; an adapter names its
 * own in `sessionVariables`.
 *
 * It lists only names that a program sets by itself, each in full: what people
 * configure (keys, homes, models, providers) shares their prefixes and must not
 * be removed.
 */
export const FOREIGN_VARIABLES = {
  tmux: ["TMUX", "TMUX_PANE"],
  // Git sets these for its hooks and aliases: a session with them would work in the repository that it was started from.
  git: [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_PREFIX",
  ],
} as const satisfies Record<string, readonly string[]>;

/** The environment without every variable a pattern names; `*` at the end of a pattern makes it a prefix. */
export function scrubEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
): Record<string, string> {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || exact.has(name)) continue;
    if (prefixes.some((prefix) => name.startsWith(prefix))) continue;
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}
