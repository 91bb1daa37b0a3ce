/**
 * The daemon as a service of the user's own service manager, as text. In both,
 * what the daemon started (tmux, and the sessions in it) is left alone when
 * the daemon is stopped. Pure.
 */
export interface ServiceParts {
  /** A program and its arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface ServiceDefinition {
  readonly path: string;
  readonly text: string;
  /** What to run to have it started now and at every log-in. */
  readonly enable: readonly string[];
}

export const LAUNCHD_LABEL = "dev.reeve.daemon";

export function systemdUnit({ command, environment }: ServiceParts): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${systemdQuote(`${name}=${value}`)}`,
  );
  return [
    "[Unit]",
    "Description=Reeve, which looks after agent sessions",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${command.map((word) => systemdQuote(word.replaceAll("$", "$$$$"))).join(" ")}`,
    ...variables,
    "# Only the daemon itself is stopped: the sessions, in a tmux server of their own, run on.",
    "KillMode=process",
    "Restart=on-failure",
    "RestartSec=1",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

export function launchdPlist({ command, environment }: ServiceParts): string {
  const variables = Object.entries(environment).flatMap(([name, value]) => [
    `      <key>${xml(name)}</key>`,
    `      <string>${xml(value)}</string>`,
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "  <dict>",
    "    <key>Label</key>",
    `    <string>${LAUNCHD_LABEL}</string>`,
    "    <key>ProgramArguments</key>",
    "    <array>",
    ...command.map((word) => `      <string>${xml(word)}</string>`),
    "    </array>",
    "    <key>EnvironmentVariables</key>",
    "    <dict>",
    ...variables,
    "    </dict>",
    "    <key>RunAtLoad</key>",
    "    <true/>",
    "    <key>KeepAlive</key>",
    "    <dict>",
    "      <key>SuccessfulExit</key>",
    "      <false/>",
    "    </dict>",
    "    <!-- Only the daemon itself is stopped: the sessions, in a tmux server of their own, run on. -->",
    "    <key>AbandonProcessGroup</key>",
    "    <true/>",
    "  </dict>",
    "</plist>",
    "",
  ].join("\n");
}

/** As systemd.syntax(7) and systemd.unit(5) want it: quoted, and no `%` that would be a specifier. */
function systemdQuote(text: string): string {
  const escaped = text.replace(/["\\]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n");
  return /^[A-Za-z0-9@_+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
