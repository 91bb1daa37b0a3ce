/**
 * The command lines that put a session's process into a pane: a new session
 * with its whole environment, or the retained pane again. Pure; the runtime
 * decides which and sends it.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import { type CreateRequest, MARK_VARIABLE } from "../contract.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import { OPTION, type Pane } from "./pane.ts";
import { checkName, quote } from "./quote.ts";
import { ANCHOR } from "./server-config.ts";
import { SHELL_VARIABLE } from "./wrapper.ts";

export interface PanePlan {
  readonly request: CreateRequest;
  readonly mark: string;
  readonly wrapper: string;
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
  const extra = additions(plan);
  const variables = { ...retained(environment), ...extra };
  const flags = `-d -E -s ${checkName(name)} -n ${checkName(request.label)} -x 200 -y 50 -P -F ${PLACE_FORMAT}`;
  const base = retained(environment);
  const commands = [
    `new-session ${flags} ${assignments(variables)} -- ${command(plan)}`,
    `set-option -p -t ${here} ${OPTION} ${quote(plan.mark)}`,
    ...Object.keys(extra).map((variable) => {
      const value = base[variable];
      const target = `-t ${quote(`=${name}`)}`;
      return value === undefined
        ? `set-environment ${target} -u -- ${quote(variable)}`
        : `set-environment ${target} -- ${quote(variable)} ${quote(value)}`;
    }),
  ];
  if (plan.isStreamed) commands.push(`link-window -d -s ${here} -t ${quote(`=${ANCHOR}:`)}`);
  return commands.map((text) => ({ text }));
}

/**
 * The pane is dead (the caller checked); -k is for a terminal that a leftover
 * still holds open. tmux empties the screen itself, but keeps the title: it is
 * taken away before the new process can set one, in the same line.
 */
export function respawnCommands(plan: PanePlan, pane: Pane): readonly ControlCommand[] {
  const target = quote(pane.target);
  return [
    { text: `select-pane -t ${pane.id} -T ""` },
    { text: `respawn-pane -k -t ${target} ${assignments(additions(plan))} -- ${command(plan)}` },
    { text: `set-option -p -t ${pane.id} ${OPTION} ${quote(plan.mark)}` },
    { text: `clear-history -t ${pane.id}` },
    { text: `rename-window -t ${pane.id} ${checkName(plan.request.label)}` },
    { text: `display-message -p -t ${pane.id} ${PLACE_FORMAT}` },
  ];
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

function command(plan: PanePlan): string {
  const { argv, cwd } = plan.request;
  return ["/bin/sh", plan.wrapper, plan.mark, cwd, ...argv].map(quote).join(" ");
}

function additions(plan: PanePlan): Record<string, string> {
  return { ...retained(plan.request.extraEnvironment), [MARK_VARIABLE]: plan.mark };
}

/** tmux sets SHELL itself, so the session's own goes by another name to the wrapper. */
function retained(environment: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (name === "TMUX" || name === "TMUX_PANE" || name === MARK_VARIABLE) continue;
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
}

function usage(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}
