/**
 * The command lines that put a session's process into a pane: a new session
 * with its whole environment, or another pane in the one that is there. Pure;
 * placement.ts decides which one is sent.
 */
import { requireExecutableSize } from "../../platform/exec-size.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { type CreateRequest, MARK_VARIABLE } from "../contract.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import { OPTION, type Pane } from "./pane.ts";
import { isPackedVariable, packArguments, type Packed } from "./packed-arguments.ts";
import { checkName, quote } from "./quote.ts";
import { ANCHOR } from "./server-config.ts";
import { SHELL_VARIABLE } from "./wrapper-script.ts";

export interface PanePlan {
  readonly request: CreateRequest;
  readonly mark: string;
  /** Where the program goes before it starts; null: nowhere. */
  readonly cgroup: string | null;
  /** What runs the wrapper: a shell, and the script itself or its path. */
  readonly shell: readonly string[];
  /** Somebody listens already: no byte of output may be missed. */
  readonly isStreamed: boolean;
}

const PLACE_FORMAT = quote("placed #{pane_id} #{window_id} #{pane_pid}");

/**
 * One line, so that no pane of ours ever exists without its mark. What was
 * given beside the environment is taken out of tmux's retained copy again:
 * the next incarnation brings its own.
 */
export function newSessionCommands(
  plan: PanePlan,
  name: string,
  environment: Readonly<Record<string, string>>,
): readonly ControlCommand[] {
  const { request } = plan;
  const here = quote(`=${name}:`);
  const packed = packArguments(request.argv);
  const extra = { ...additions(plan), ...packed.variables };
  const variables = { ...retained(environment), ...extra };
  const flags = `-d -E -s ${checkName(name)} -n ${checkName(request.label)} -x 200 -y 50 -P -F ${PLACE_FORMAT}`;
  const base = retained(environment);
  const commands = [
    `new-session ${flags} ${assignments(variables)} -- ${command(plan, packed)}`,
    `set-option -p -t ${here} ${OPTION} ${quote(plan.mark)}`,
    ...Object.keys(extra).map((variable) => {
      const value = base[variable];
      const target = `-t ${quote(`=${name}`)}`;
      return value === undefined
        ? `set-environment ${target} -u -- ${quote(variable)}`
        : `set-environment ${target} -- ${quote(variable)} ${quote(value)}`;
    }),
  ];
  if (plan.isStreamed) commands.push(linkCommand(here));
  return commands.map((text) => ({ text }));
}

/**
 * A new pane in the tmux session of a dead one (the caller checked), which
 * holds the environment; the dead one goes in the same line, and with it its
 * title and screen. Not respawn-pane: that keeps the title, and for a control
 * client tmux 3.3a goes on reading where the dead one's output ended: most of
 * what a short-lived program printed was lost, and the server crashed.
 */
export function replacePaneCommands(plan: PanePlan, dead: Pane): readonly ControlCommand[] {
  const here = quote(`${dead.sessionId}:`);
  const flags = `-t ${here} -n ${checkName(plan.request.label)} -P -F ${PLACE_FORMAT}`;
  const packed = packArguments(plan.request.argv);
  const commands = [
    `new-window ${flags} ${assignments({ ...additions(plan), ...packed.variables })} -- ${command(plan, packed)}`,
    `set-option -p -t ${here} ${OPTION} ${quote(plan.mark)}`,
  ];
  if (plan.isStreamed) commands.push(linkCommand(here));
  return [...commands, `kill-pane -t ${dead.id}`].map((text) => ({ text }));
}

function linkCommand(window: string): string {
  return `link-window -d -s ${window} -t ${quote(`=${ANCHOR}:`)}`;
}

export interface Placed {
  readonly paneId: string;
  readonly windowId: string;
  readonly pid: number;
}

/** From whichever reply of the line holds it. */
export function parsePlaced(answer: Answer): Placed | null {
  for (const { lines } of answer.replies) {
    const [, paneId, windowId, pid] = /^placed (%\d+) (@\d+) (\d+)$/.exec(lines[0] ?? "") ?? [];
    if (paneId !== undefined && windowId !== undefined) return { paneId, windowId, pid: Number(pid) };
  }
  return null;
}

function command(plan: PanePlan, { words }: Packed): string {
  return [...plan.shell, plan.mark, plan.cgroup ?? "", plan.request.cwd, ...words].map(quote).join(" ");
}

function additions(plan: PanePlan): Record<string, string> {
  return { ...retained(plan.request.extraEnvironment), [MARK_VARIABLE]: plan.mark };
}

/** tmux sets SHELL itself, so the session's own goes by another name to the wrapper. */
function retained(environment: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (name === "TMUX" || name === "TMUX_PANE" || name === MARK_VARIABLE || isPackedVariable(name)) continue;
    kept[name === "SHELL" ? SHELL_VARIABLE : name] = value;
  }
  return kept;
}

function assignments(environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment)
    .map(([name, value]) => `-e ${quote(`${name}=${value}`)}`)
    .join(" ");
}

export function checkRequest(request: CreateRequest): void {
  checkName(request.sessionId);
  checkName(request.label);
  const [program] = request.argv;
  if (program === undefined || program === "" || program.startsWith("-")) {
    throw usage("argv-invalid", "The command must begin with a program's name or path, not with an option.");
  }
  if (!request.cwd.startsWith("/")) throw usage("cwd-invalid", "The session's directory must be an absolute path.");
  for (const name of [...Object.keys(request.environment ?? {}), ...Object.keys(request.extraEnvironment)]) {
    if (name === "" || name.includes("="))
      throw usage("environment-invalid", "A variable's name is empty or holds '='.");
  }
  requireExecutableSize({ argv: request.argv, environment: { ...request.environment, ...request.extraEnvironment } });
}

function usage(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}

export function environmentLost(request: CreateRequest): ReeveError {
  return new ReeveError({
    code: "environment-lost",
    kind: "conflict",
    message: `The environment of session ${request.sessionId} is gone; run reeve restart ${request.sessionId} in a shell that has it.`,
  });
}

export function notPlaced(reason: string): ReeveError {
  return new ReeveError({
    code: "place-failed",
    kind: "unavailable",
    message: `tmux did not start the process: ${reason}.`,
  });
}
