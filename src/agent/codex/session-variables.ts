/**
 * What Codex sets for the commands it runs (and its npm wrapper for itself), as
 * seen in 0.166.0. What people configure (CODEX_HOME, CODEX_API_KEY, …) shares
 * the prefix and must pass, so each is listed here by its whole name.
 */
export const SESSION_VARIABLES = [
  "CODEX_THREAD_ID",
  "CODEX_SESSION_ID",
  "CODEX_TOOL_CALL_ID",
  "CODEX_VERSION",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "CODEX_PERMISSION_PROFILE",
  "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
  "CODEX_SHELL",
  "CODEX_CI",
  "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
  "CODEX_MANAGED_BY_NPM",
  "CODEX_MANAGED_BY_PNPM",
  "CODEX_MANAGED_BY_BUN",
  "CODEX_MANAGED_PACKAGE_ROOT",
] as const;
