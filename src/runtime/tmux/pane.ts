/**
 * Panes as tmux lists them, and what that says about a session. Owns the one
 * listing format and which pane counts as ours: by the option @reeve, or by
 * the mark in the environment of its process. A name proves nothing.
 */
import { constants } from "node:os";
import { isDead, readEnvironmentVariable, readProcess } from "../../platform/process-table.ts";
import { MARK_VARIABLE, type Observation, parseMark, type Target } from "../contract.ts";
import type { ControlCommand } from "./control-connection.ts";
import { checkName, quote } from "./quote.ts";
import { ANCHOR } from "./server-config.ts";

export const OPTION = "@reeve";

export interface Pane {
  readonly id: string;
  /** `$session:@window.%pane`: the one target that also says whose environment a respawn uses. */
  readonly target: string;
  readonly sessionId: string;
  readonly windowId: string;
  readonly sessionName: string;
  readonly pid: number;
  readonly exitCode: number | null;
  /** `SIGKILL`, …: how the wrapper itself was killed. */
  readonly exitSignal: string | null;
  readonly isInMode: boolean;
  readonly tty: string;
  readonly mark: string;
  readonly owner: Target;
  /** Also a window of the anchor, so that its output reaches the control connection. */
  readonly isLinked: boolean;
  /** In no session but the anchor: someone removed its session by hand. */
  readonly isOrphan: boolean;
}

/** Starts with a constant, and holds nothing an agent's output can set (no titles, no paths). */
const FORMAT = [
  "pane",
  "#{pane_id}",
  "#{session_id}",
  "#{window_id}",
  "#{pane_pid}",
  "#{pane_dead_status}",
  "#{pane_dead_signal}",
  "#{pane_in_mode}",
  "#{window_linked}",
  "#{pane_tty}",
  `#{${OPTION}}`,
  "#{session_name}",
].join(" ");

export function listPanesCommand(): ControlCommand {
  // What is watched is linked into the anchor as well; there it is listed only if nothing else holds it.
  const filter = `#{||:#{!=:#{session_name},${ANCHOR}},#{!=:#{window_linked},1}}`;
  return { text: `list-panes -a -f ${quote(filter)} -F ${quote(FORMAT)}` };
}

/** Also panes without the option: their process may carry the mark all the same. */
export function listSessionPanesCommand(instance: string, sessionId: string): ControlCommand {
  const filter = `#{||:#{m:${instance}.${checkName(sessionId)}.*,#{${OPTION}}},#{==:#{${OPTION}},}}`;
  return { text: `list-panes -a -f ${quote(filter)} -F ${quote(FORMAT)}` };
}

/** One pane without walking all of them; which of its sessions is named is not defined. */
export function showPaneCommand(paneId: string): ControlCommand {
  return { text: `display-message -p -t ${paneId} ${quote(FORMAT)}` };
}

/** Ours only, each pane once however many sessions its window is linked into. */
export function parsePanes(lines: readonly string[], instance: string): readonly Pane[] {
  const panes = new Map<string, Pane>();
  for (const line of lines) {
    const pane = parseLine(line, instance);
    if (pane === null) continue;
    const earlier = panes.get(pane.id);
    panes.set(pane.id, earlier === undefined ? pane : merge(earlier, pane));
  }
  return [...panes.values()];
}

function parseLine(line: string, instance: string): Pane | null {
  const [prefix, id, sessionId, windowId, pid, code, signal, inMode, linked, tty, option, ...name] = line.split(" ");
  if (prefix !== "pane" || id === undefined || option === undefined || tty === undefined) return null;
  const sessionName = name.join(" ");
  const isAnchor = sessionName === ANCHOR;
  const mark = option === "" ? readEnvironmentVariable(Number(pid), MARK_VARIABLE) : option;
  const owner = mark === null ? null : parseMark(instance, mark);
  if (mark === null || owner === null) return null;
  return {
    id,
    target: `${sessionId}:${windowId}.${id}`,
    sessionId: sessionId ?? "",
    windowId: windowId ?? "",
    sessionName,
    pid: Number(pid),
    exitCode: numberOrNull(code),
    exitSignal: signalFrom(signal ?? ""),
    isInMode: inMode !== "0",
    tty,
    mark,
    owner,
    isLinked: isAnchor || linked === "1",
    isOrphan: isAnchor,
  };
}

function merge(one: Pane, other: Pane): Pane {
  const home = one.isOrphan ? other : one;
  return { ...home, isLinked: one.isLinked || other.isLinked };
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined || text === "" ? null : Number(text);
}

/** Null where the process is gone but tmux has not learnt how it ended: ask again shortly. */
export function observePane(pane: Pane): Observation | null {
  if (pane.exitCode !== null || pane.exitSignal !== null) return exited(pane);
  const row = readProcess(pane.pid);
  if (row === null || isDead(row)) return null;
  return {
    status: "running",
    place: { id: pane.id, pid: pane.pid, startTicks: row.startTicks },
    evidence: `tmux pane ${pane.id} runs process ${pane.pid}`,
  };
}

/** A program killed by signal n comes out of the wrapper as status 128 + n. */
function exited(pane: Pane): Observation {
  const code = pane.exitCode;
  const signal = pane.exitSignal ?? (code !== null && code > 128 ? signalFrom(String(code - 128)) : null);
  const how = signal === null ? `status ${code}` : `${signal} (status ${code ?? "none"})`;
  return { status: "exited", code, signal, evidence: `tmux pane ${pane.id}: process ${pane.pid} ended with ${how}` };
}

/** For a process that is gone although tmux never learnt its status. */
export function exitedUnseen(pane: Pane): Observation {
  const evidence = `tmux pane ${pane.id}: process ${pane.pid} is gone; tmux saw no status`;
  return { status: "exited", code: null, signal: null, evidence };
}

/** tmux prints a number or a name without SIG, as its platform has it. */
function signalFrom(text: string): string | null {
  if (text === "") return null;
  if (!/^\d+$/.test(text)) return `SIG${text}`;
  return Object.entries(constants.signals).find(([, value]) => value === Number(text))?.[0] ?? null;
}
