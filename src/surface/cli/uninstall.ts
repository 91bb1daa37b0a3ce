/**
 * `reeve uninstall`: says what it will remove, asks, ends the sessions with
 * proof, stops the daemon with its tmux server, and deletes. Loaded only when
 * needed. It deletes nothing before everything has ended, and nothing that
 * Reeve did not write.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SessionView } from "../../client/operation-types.ts";
import { locateHome } from "../../platform/home.ts";
import type { Home } from "../../platform/home.ts";
import { answer } from "./answer.ts";
import type { CliContext } from "./command.ts";
import { isConfirmed } from "./confirm.ts";
import { statusIfRunning, untilGone } from "./command/daemon.ts";
import { endOne } from "./command/end.ts";
import { compiledIn, dataOf, remove, removeEmptyDirectories } from "./own-files.ts";
import { installedService, removeService } from "./service-removal.ts";
import { oneLine, stateSentence } from "./session-text.ts";

interface Plan {
  readonly sessions: readonly SessionView[];
  /** Its process id; null where none runs. */
  readonly daemon: number | null;
  readonly service: string | null;
  readonly cache: readonly string[];
  readonly data: readonly string[];
  readonly kept: readonly string[];
}

export async function uninstall(
  context: CliContext,
  options: { readonly withData: boolean; readonly isAgreed: boolean },
): Promise<number> {
  const home = locateHome(context.environment);
  const plan = await planOf(context, home, options.withData);
  const isEmpty = plan.daemon === null && plan.service === null && plan.data.length === 0;
  if (!context.isJson) context.output.say(isEmpty ? nothingIn(home) : textOf(plan, home));
  if (!isEmpty && !options.isAgreed && !(await isConfirmed(context))) {
    const advice = "Nothing was removed. To remove it: reeve uninstall --yes";
    if (context.isJson) context.output.printJson({ done: false, ...viewOf(plan) });
    else context.output.note(advice);
    return 1;
  }
  await Promise.all(plan.sessions.map((session) => end(context, session.session_id)));
  if (plan.daemon !== null) {
    const { pid } = await context.client({ autostart: false }).stopDaemon({ with_runtimes: true });
    await untilGone(pid);
  }
  if (plan.service !== null) await removeService(plan.service);
  remove([...plan.cache, ...plan.data]);
  // What the daemon wrote while it stopped.
  if (options.withData) remove(dataOf(home));
  if (options.withData) removeEmptyDirectories(home);
  answer(context, { done: true, ...viewOf(plan) }, () =>
    isEmpty ? "" : "Done. To remove the program too: npm uninstall -g reeve",
  );
  return 0;
}

async function end(context: CliContext, session: string): Promise<void> {
  const outcome = await endOne(context.client(), { session, when: "now" }, context);
  if (!context.isJson) context.output.say(stateSentence(outcome.session));
}

/** Where there is a database, only a daemon can say whether sessions of it still run: it is started if need be. */
async function planOf(context: CliContext, home: Home, withData: boolean): Promise<Plan> {
  const isUsed = existsSync(home.databasePath);
  const status = isUsed ? await context.client().daemonStatus() : await statusIfRunning(context);
  const sessions = status === null ? [] : (await context.client().listSessions()).sessions;
  const data = dataOf(home);
  const rules = join(home.configPath, "..", "rules");
  const settings = [home.configPath, rules].filter((path) => existsSync(path));
  return {
    sessions,
    daemon: status?.pid ?? null,
    service: installedService(context),
    cache: compiledIn(cacheOf(context.environment)),
    data: withData ? data : [],
    kept: [...settings, ...(withData ? [] : data)],
  };
}

/** Where bin/reeve keeps its compiled code. */
function cacheOf(environment: CliContext["environment"]): string {
  const base = environment["XDG_CACHE_HOME"];
  return join(base?.startsWith("/") === true ? base : join(environment["HOME"] ?? "/", ".cache"), "reeve");
}

function textOf({ sessions, daemon, service, cache, data, kept }: Plan, home: Home): string {
  const names = sessions.map(({ name }) => oneLine(name)).join(", ");
  const will = [
    ...(sessions.length === 0
      ? []
      : [`end ${sessions.length === 1 ? "1 session" : `${sessions.length} sessions`}: ${names}`]),
    ...(daemon === null ? [] : [`stop the daemon (process ${daemon}) and the tmux server of its sessions`]),
    ...byDirectory([service ?? [], cache, data].flat()).map((files) => `delete from ${files}`),
  ];
  const stays = kept.length === 0 ? [] : ["", "These files stay:", ...byDirectory(kept).map((files) => `  ${files}`)];
  const advice = data.length > 0 || kept.length === 0 ? [] : ["With --data, what Reeve recorded is deleted too."];
  return [
    `This will, for the home ${home.stateDir}:`,
    ...will.map((line) => `  ${line}`),
    ...stays,
    ...advice,
    "",
  ].join("\n");
}

/** One line for each directory, with the names in it. */
function byDirectory(paths: readonly string[]): readonly string[] {
  const directories = [...new Set(paths.map((path) => dirname(path)))];
  return directories.map((directory) => {
    const names = paths.filter((path) => dirname(path) === directory).map((path) => basename(path));
    return `${directory}: ${names.join(", ")}`;
  });
}

function nothingIn(home: Home): string {
  return `There is nothing of Reeve in ${home.stateDir}. To remove the program: npm uninstall -g reeve\n`;
}

function viewOf({ sessions, ...plan }: Plan): object {
  return { sessions: sessions.map(({ session_id, name }) => ({ session_id, name })), ...plan };
}
