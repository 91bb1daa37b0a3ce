/**
 * `[git]` of config.toml:
 *
 *     [git]
 *     branch_policy = "warn"      # or "pause", or "error": what follows when a session's branch is not checked out
 *     shared_checkouts = false    # whether others may work in the checkout of a session that declared its branch
 *     worktrees_dir = "/home/me/worktrees"     # or relative to the repository's top directory
 *     fetch = false                            # ask the remote before a worktree is made
 *     symlink_directories = ["node_modules"]   # linked into a worktree instead of being missing there
 *     disposable = ["node_modules", "target"]  # ignored directories that may be deleted with a worktree
 */
import { BRANCH_POLICIES, type BranchPolicy } from "../../session/branch-policy.ts";

export interface GitSettings {
  /** Unless the start of a session says otherwise. */
  readonly branchPolicy: BranchPolicy;
  readonly sharedCheckouts: boolean;
  /** Null: `<repository>.worktrees`, beside the repository. */
  readonly worktreesDir: string | null;
  readonly fetch: boolean;
  readonly symlinkDirectories: readonly string[];
  /** Names of directories that tools make again; they count only where git ignores them. */
  readonly disposable: readonly string[];
}

export const defaultGitSettings: GitSettings = {
  branchPolicy: "warn",
  sharedCheckouts: false,
  worktreesDir: null,
  fetch: false,
  symlinkDirectories: [],
  disposable: [
    "node_modules",
    "__pycache__",
    ".venv",
    ".tox",
    ".gradle",
    ".next",
    ".turbo",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
  ],
};

export function parseGitSettings(table: Readonly<Record<string, unknown>>): GitSettings {
  const settings: { -readonly [Name in keyof GitSettings]: GitSettings[Name] } = { ...defaultGitSettings };
  for (const [name, value] of Object.entries(table)) {
    switch (name) {
      case "branch_policy":
        settings.branchPolicy = policyOf(value);
        break;
      case "shared_checkouts":
        if (typeof value !== "boolean") throw new Error("[git] shared_checkouts must be true or false");
        settings.sharedCheckouts = value;
        break;
      case "worktrees_dir":
        if (typeof value !== "string" || value === "") throw new Error("[git] worktrees_dir must be a directory");
        settings.worktreesDir = value;
        break;
      case "fetch":
        if (typeof value !== "boolean") throw new Error("[git] fetch must be true or false");
        settings.fetch = value;
        break;
      case "symlink_directories":
        settings.symlinkDirectories = names(value, name, /^(?!\/)(?!.*(?:^|\/)\.\.?(?:\/|$)).+$/);
        break;
      case "disposable":
        settings.disposable = names(value, name, /^[^/]+$/);
        break;
      default:
        throw new Error(`there is no setting ${name} in [git]`);
    }
  }
  return settings;
}

function policyOf(value: unknown): BranchPolicy {
  const policy = BRANCH_POLICIES.find((known) => known === value);
  if (policy !== undefined) return policy;
  throw new Error(`[git] branch_policy must be one of ${BRANCH_POLICIES.map((one) => `"${one}"`).join(", ")}`);
}

function names(value: unknown, name: string, pattern: RegExp): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((one): one is string => typeof one === "string" && pattern.test(one))) return list;
  throw new Error(`[git] ${name} must be a list of names of directories inside the repository`);
}
