/** Which version of Codex can do what; an unreadable version counts as the newest. */
import { compareVersions } from "../version.ts";

/** See docs/spec/agent-behaviors/codex.md, "Versions", for how each was found. */
const SINCE = {
  appServer: "0.135.0",
  noDaemonFlag: "0.156.0",
  sessionHooks: "0.128.0",
  errorInRollout: "0.156.0",
} as const;

export type Feature = keyof typeof SINCE;

export const OLDEST = "0.58.0";

export function supports(version: string | null, feature: Feature): boolean {
  return version === null || compareVersions(version, SINCE[feature]) >= 0;
}

export function since(feature: Feature): string {
  return SINCE[feature];
}
