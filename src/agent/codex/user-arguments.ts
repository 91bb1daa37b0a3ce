/**
 * Divides the user's own arguments for Codex. In app-server mode, what decides
 * about turns must reach the server (the TUI refuses it: "Permission overrides
 * are not supported when resuming a remote task", 0.166.0), and the server
 * takes only `-c`, `--enable` and `--disable`. If arguments cannot be divided,
 * the session runs in hooks mode.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import { tomlText } from "./toml-value.ts";

export interface UserArguments {
  /** As given, for a Codex that is one process. */
  readonly all: readonly string[];
  readonly server: readonly string[];
  readonly tui: readonly string[];
  /** From `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** The first argument that cannot be divided. */
  readonly undivided: string | null;
}

type Route =
  | { readonly to: "server" | "tui" | "both" | "config"; readonly takes: "nothing" | "value" | "values" }
  | { readonly to: "setting"; readonly takes: "value"; readonly key: string }
  | { readonly to: "settings"; readonly takes: "nothing"; readonly settings: readonly string[] }
  | { readonly to: "root"; readonly takes: "value" }
  | { readonly to: "nobody"; readonly takes: "nothing" }
  | { readonly to: "refused"; readonly takes: "nothing"; readonly instead: string };

const UNGUARDED = ['approval_policy="never"', 'sandbox_mode="danger-full-access"'] as const;
const USE_CWD = "give the directory to reeve start with --cwd";
const USE_REEVE = "Reeve runs Codex's own server for the session";

const ROUTES: Readonly<Record<string, Route>> = {
  "--config": { to: "config", takes: "value" },
  "--enable": { to: "server", takes: "value" },
  "--disable": { to: "server", takes: "value" },
  "--strict-config": { to: "both", takes: "nothing" },
  "--model": { to: "setting", takes: "value", key: "model" },
  "--sandbox": { to: "setting", takes: "value", key: "sandbox_mode" },
  "--ask-for-approval": { to: "setting", takes: "value", key: "approval_policy" },
  "--search": { to: "settings", takes: "nothing", settings: ['web_search="live"'] },
  "--dangerously-bypass-approvals-and-sandbox": { to: "settings", takes: "nothing", settings: UNGUARDED },
  "--yolo": { to: "settings", takes: "nothing", settings: UNGUARDED },
  "--add-dir": { to: "root", takes: "value" },
  "--image": { to: "tui", takes: "values" },
  "--no-alt-screen": { to: "tui", takes: "nothing" },
  "--no-daemon": { to: "nobody", takes: "nothing" },
  "--cd": { to: "refused", takes: "nothing", instead: USE_CWD },
  "--worktree": { to: "refused", takes: "nothing", instead: USE_CWD },
  "--remote": { to: "refused", takes: "nothing", instead: USE_REEVE },
  "--remote-auth-token-env": { to: "refused", takes: "nothing", instead: USE_REEVE },
  "--last": { to: "refused", takes: "nothing", instead: "name the conversation to resume by its id" },
  "--help": { to: "refused", takes: "nothing", instead: "run codex --help in a terminal" },
  "--version": { to: "refused", takes: "nothing", instead: "run codex --version in a terminal" },
};

const SHORT: Readonly<Record<string, string>> = {
  "-c": "--config",
  "-m": "--model",
  "-s": "--sandbox",
  "-a": "--ask-for-approval",
  "-i": "--image",
  "-C": "--cd",
  "-p": "--profile",
  "-h": "--help",
  "-V": "--version",
};

/** Not divided, but known to take a value: so that the value is not taken for a prompt. */
const WHOLE_WITH_VALUE: ReadonlySet<string> = new Set(["--profile", "--local-provider"]);

/** Settings that the TUI reads for itself; the server has them too, it ignores what it does not know. */
const TUI_SETTING = /^(?:tui|notice|file_opener|disable_paste_burst|hide_agent_reasoning|show_raw_agent_reasoning)\b/;

export function readUserArguments(args: readonly string[]): UserArguments {
  const result = { all: [] as string[], server: [] as string[], tui: [] as string[], extraRoots: [] as string[] };
  let undivided: string | null = null;
  for (let at = 0; at < args.length; at += 1) {
    const start = at;
    const { flag, attached } = nameOf(args[at] ?? "");
    const route = ROUTES[flag];
    if (route?.to === "refused") throw refusal(flag, route.instead);
    if (route?.to === "nobody") continue;
    const values: string[] = attached === null ? [] : [attached];
    const takes = route?.takes ?? (WHOLE_WITH_VALUE.has(flag) ? "value" : "nothing");
    if (attached === null && takes === "value") values.push(valueAfter(args, (at += 1), flag));
    if (takes === "values") for (; isValue(args[at + 1]); at += 1) values.push(args[at + 1] ?? "");
    result.all.push(...args.slice(start, at + 1));
    if (route === undefined) undivided ??= flag;
    else divide(route, flag, values, result);
  }
  return { ...result, undivided };
}

function divide(
  route: Exclude<Route, { readonly to: "refused" | "nobody" }>,
  flag: string,
  values: readonly string[],
  result: { readonly server: string[]; readonly tui: string[]; readonly extraRoots: string[] },
): void {
  switch (route.to) {
    case "config":
      result.server.push("-c", ...values);
      if (TUI_SETTING.test(values[0] ?? "")) result.tui.push("-c", ...values);
      return;
    case "setting":
      result.server.push("-c", `${route.key}=${tomlText(values[0] ?? "")}`);
      return;
    case "settings":
      for (const setting of route.settings) result.server.push("-c", setting);
      return;
    case "root":
      result.extraRoots.push(...values);
      return;
    case "server":
      result.server.push(flag, ...values);
      return;
    case "tui":
      result.tui.push(...(route.takes === "values" ? values.flatMap((value) => [flag, value]) : [flag]));
      return;
    case "both":
      result.server.push(flag);
      result.tui.push(flag);
      return;
  }
}

/** `--sandbox=read-only`, `-sread-only` and `-s read-only` are one flag with one value. */
function nameOf(argument: string): { readonly flag: string; readonly attached: string | null } {
  if (!argument.startsWith("-") || argument === "-" || argument === "--") {
    throw new ReeveError({
      code: "arguments-unsupported",
      kind: "usage",
      message: `"${argument}" is not an option: give the prompt to reeve start itself; Codex's subcommands (exec, review, …) cannot be a session.`,
    });
  }
  if (argument.startsWith("--")) {
    const equals = argument.indexOf("=");
    if (equals < 0) return { flag: argument, attached: null };
    return { flag: argument.slice(0, equals), attached: argument.slice(equals + 1) };
  }
  const flag = SHORT[argument.slice(0, 2)] ?? argument.slice(0, 2);
  const rest = argument.slice(2).replace(/^=/, "");
  return { flag, attached: rest === "" ? null : rest };
}

function valueAfter(args: readonly string[], at: number, flag: string): string {
  const value = args[at];
  if (value !== undefined) return value;
  throw new ReeveError({
    code: "arguments-unsupported",
    kind: "usage",
    message: `${flag} needs a value: see codex --help.`,
  });
}

function isValue(argument: string | undefined): boolean {
  return argument !== undefined && !argument.startsWith("-");
}

function refusal(flag: string, instead: string): ReeveError {
  return new ReeveError({
    code: "arguments-unsupported",
    kind: "usage",
    message: `Codex's ${flag} cannot be given to a session: ${instead}.`,
  });
}
