/** `reeve daemon install`: the daemon as a user service. It writes one file; enabling it stays the user's decision. */
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { daemonCommand } from "../../../client/daemon-command.ts";
import { messageOf, ReeveError } from "../../../platform/reeve-error.ts";
import { answer } from "../answer.ts";
import type { CliContext } from "../command.ts";
import { LAUNCHD_LABEL, launchdPlist, systemdUnit } from "../service-definition.ts";
import type { ServiceDefinition } from "../service-definition.ts";

export function installService(context: CliContext, mode: "write" | "print"): number {
  const definition = serviceOf(context, process.platform);
  if (mode === "print") {
    answer(context, definition, () => definition.text);
    return 0;
  }
  try {
    mkdirSync(dirname(definition.path), { recursive: true });
    writeFileSync(definition.path, definition.text);
  } catch (error) {
    throw new ReeveError({
      code: "service-not-written",
      kind: "config",
      message: `${definition.path} cannot be written (${messageOf(error)}); see reeve daemon install --print.`,
    });
  }
  answer(context, definition, () =>
    [
      `Wrote ${definition.path}. To have the daemon started at every log-in:`,
      ...definition.enable.map((line) => `  ${line}`),
    ].join("\n"),
  );
  return 0;
}

export function serviceOf(
  { root, environment }: Pick<CliContext, "root" | "environment">,
  platform: NodeJS.Platform,
): ServiceDefinition {
  const home = environment["HOME"] ?? homedir();
  const reeveHome = environment["REEVE_HOME"];
  // A service manager's PATH is short: tmux and git may be elsewhere.
  const variables = {
    PATH: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    ...(reeveHome === undefined || reeveHome === "" ? {} : { REEVE_HOME: resolve(reeveHome) }),
  };
  const parts = { command: daemonCommand(root), environment: variables };
  if (platform === "darwin") {
    const path = join(home, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`);
    return { path, text: launchdPlist(parts), enable: [`launchctl bootstrap gui/$(id -u) '${path}'`] };
  }
  const path = join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "systemd", "user", "reeve.service");
  return {
    path,
    text: systemdUnit(parts),
    enable: [
      "systemctl --user daemon-reload",
      "systemctl --user enable --now reeve.service",
      "loginctl enable-linger  # keep it, and the sessions, after log-out",
    ],
  };
}
