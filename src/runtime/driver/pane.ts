/**
 * Panes as tmux lists them, and what that says about a session. Owns the
 * listing format, which asks for nothing whose size anybody but tmux decides:
 * one session's pane must not slow the listing of all. It does not decide whose
 * pane it is, because anyone can set the option @reeve, a name and a command
 * line.
 */
import { constants } from "node:os";
import type { Presence, Target } from "../contract.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import { checkName, quote } from "./quote.ts";
import { ANCHOR } from "./server-config.ts";

export const OPTION = "@reeve";

export interface ListedPane {
  readonly id: string;
  readonly sessionId: string;
  readonly windowId: string;
  readonly pid: number;
  readonly exitCode: number | null;
  /** `SIGKILL`, …: how the wrapper itself was killed. */
  readonly exitSignal: string | null;
  readonly isInMode: boolean;
  readonly tty: string;
  /** The mark that the option names; empty without one. */
  readonly claim: string;
  /** Also a window of the anchor, so that its output reaches the control connection. */
  readonly isLinked: boolean;
  /** In no session but the anchor: someone removed its session by hand. */
  readonly isOrphan: boolean;
}

/** One that is proven ours. */
export interface Pane extends ListedPane {
  readonly mark: string;
  readonly owner: Target;
}

/** Any program of this user may set the option, to any text: one that cannot be a mark, or is longer than any, is not printed. */
// Not by a regular expression (m/r), which tmux would compile for each pane: 20 ms for 800.
const CLAIM = `#{?#{m:*[!a-z0-9.-]*,#{=200:${OPTION}}},,#{=200:${OPTION}}}`;

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
  CLAIM,
  `#{==:#{session_name},${ANCHOR}}`,
].join(" ");

export interface PaneCommands {
  all(): ControlCommand;
  /** What may belong to it: by its option, by its name, or without an option. */
  ofSession(sessionId: string): ControlCommand;
  /** One pane without walking all of them; which of its sessions is named is not defined. */
  one(paneId: string): ControlCommand;
}

const PRINTED = quote(FORMAT);

export function paneCommands(instance: string): PaneCommands {
  const list = (filter: string): ControlCommand => ({ text: `list-panes -a -f ${quote(filter)} -F ${PRINTED}` });
  return {
    // What is watched is linked into the anchor as well; there it is listed only if nothing else holds it.
    all: () => list(`#{!=:#{session_name} #{window_linked},${ANCHOR} 1}`),
    ofSession(sessionId) {
      const isClaimed = `#{||:#{m:${instance}.${checkName(sessionId)}.*,#{${OPTION}}},#{==:#{${OPTION}},}}`;
      return list(`#{||:${isClaimed},#{==:#{session_name},${sessionId}}}`);
    },
    one: (paneId) => ({ text: `display-message -p -t ${paneId} ${PRINTED}` }),
  };
}

/**
 * Whether tmux started it with our wrapper and this mark. tmux puts the whole command line together for the answer, so this
 * is asked of one pane, where nothing else tells.
 */
export function startCommand(paneId: string, wrapper: string, mark: string): ControlCommand {
  // Where tmux would quote or escape a character, any text will do.
  const path = wrapper.replace(/[^a-zA-Z0-9_./-]+/g, "*").replace(/^.*\*.*$/, "*$&*");
  const format = `started #{m:/bin/sh ${path} ${mark} *,#{pane_start_command}}`;
  return { text: `display-message -p -t ${paneId} ${quote(format)}` };
}

export function isStartedSo({ replies }: Answer): boolean {
  return replies[0]?.lines[0] === "started 1";
}

/** Each pane once, however many sessions its window is linked into. */
export function parsePanes(lines: readonly string[]): readonly ListedPane[] {
  const panes = new Map<string, ListedPane>();
  for (const line of lines) {
    const pane = parseLine(line);
    if (pane === null) continue;
    const earlier = panes.get(pane.id);
    panes.set(pane.id, earlier === undefined ? pane : merge(earlier, pane));
  }
  return [...panes.values()];
}

function parseLine(line: string): ListedPane | null {
  const [prefix, id, sessionId, windowId, pid, code, signal, inMode, linked, tty, claim, anchor] = line.split(" ");
  if (prefix !== "pane" || id === undefined || tty === undefined || anchor === undefined) return null;
  const isAnchor = anchor === "1";
  return {
    id,
    sessionId: sessionId ?? "",
    windowId: windowId ?? "",
    pid: Number(pid),
    exitCode: numberOrNull(code),
    exitSignal: signalFrom(signal ?? ""),
    isInMode: inMode !== "0",
    tty,
    claim: claim ?? "",
    isLinked: isAnchor || linked === "1",
    isOrphan: isAnchor,
  };
}

function merge(one: ListedPane, other: ListedPane): ListedPane {
  const home = one.isOrphan ? other : one;
  return { ...home, isLinked: one.isLinked || other.isLinked };
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined || text === "" ? null : Number(text);
}

export function hasEnded(pane: ListedPane): boolean {
  return pane.exitCode !== null || pane.exitSignal !== null;
}

/** How its program ended, before it is known when that was asked for. */
export type PaneExit = Omit<Extract<Presence, { status: "exited" }>, "askedAt">;

/** A program killed by signal n comes out of the wrapper as status 128 + n. */
export function exitOf(pane: Pick<ListedPane, "id" | "pid" | "exitCode" | "exitSignal">): PaneExit {
  const code = pane.exitCode;
  const signal = pane.exitSignal ?? (code !== null && code > 128 ? signalFrom(String(code - 128)) : null);
  const how = signal === null ? `status ${code}` : `${signal} (status ${code ?? "none"})`;
  return { status: "exited", code, signal, evidence: `tmux pane ${pane.id}: process ${pane.pid} ended with ${how}` };
}

/** tmux prints a number or a name without SIG, as its platform has it. */
export function signalFrom(text: string): string | null {
  if (text === "") return null;
  if (!/^\d+$/.test(text)) return `SIG${text}`;
  return Object.entries(constants.signals).find(([, value]) => value === Number(text))?.[0] ?? null;
}
