/**
 * `notify`, for versions without hooks of their own: the program that Codex
 * runs at the end of a turn. There is only one, so the user's is run after
 * ours, with the same last argument.
 */
import { join } from "node:path";
import { parse } from "smol-toml";
import type { LaunchContext, PlannedFile } from "../contract.ts";
import { codexHome } from "./codex-home.ts";
import { tomlList } from "./toml-value.ts";

const SCRIPT = `#!/bin/sh
"\${0%/*}/hook.sh" --argument "$@"
[ "$#" -gt 1 ] && exec "$@"
exit 0
`;

export interface NotifyChain {
  readonly file: PlannedFile;
  readonly flags: readonly string[];
}

export function notifyChain(context: LaunchContext): NotifyChain {
  const file = { path: join(context.sessionDir, "notify.sh"), content: SCRIPT, isExecutable: true };
  return { file, flags: ["-c", `notify=${tomlList([file.path, ...usersNotify(context)])}`] };
}

function usersNotify({ launch, read }: LaunchContext): readonly string[] {
  const home = codexHome(launch);
  const text = home === null ? null : read(join(home, "config.toml"));
  if (text === null) return [];
  try {
    const { notify } = parse(text);
    return Array.isArray(notify) ? notify.filter((part) => typeof part === "string") : [];
  } catch {
    // Codex itself will say what is wrong with its configuration.
    return [];
  }
}
