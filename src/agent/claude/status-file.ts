/**
 * Claude Code's registry of living sessions, `sessions/<pid>.json` (2.1.325):
 * pid, procStart, sessionId, status, waitingFor, statusUpdatedAt.
 *
 *   busy      a turn, a retry after an error, a compaction, or a subagent at work
 *   idle      at the prompt: also after Esc before the first word, which no hook and no line tells, and while a task of
 *             an MCP server works on
 *   shell     idle, with a shell command still running in the background
 *   waiting   for a person: waitingFor "permission prompt", "input needed", "dialog open", …
 *
 * A process that was killed leaves its file behind with its last status: `pid` and `procStart` tell whose it is
 * (readHolder). The files beside them (`<pid>.<hash>.key`) hold tokens; Reeve does not read them.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Reading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { askedAtOf } from "./approval-request.ts";
import { isMcpTask } from "./background-task.ts";
import { fitsCommandLine } from "./launch-plan.ts";
import { type Fields, countIn, parseFields, textIn } from "../../platform/json-fields.ts";

export function readStatus(
  file: { readonly name: string; readonly content: string | null },
  known: Known,
): Reading | null {
  if (!/^\d{1,10}\.json$/.test(file.name) || file.content === null || known.nativeId === null) return null;
  const status = parseFields(file.content);
  if (status === null || textIn(status, "sessionId") !== known.nativeId) return null;
  const content = contentOf(status, known);
  if (content === null) return null;
  const word = textIn(status, "status") ?? "";
  const waitingFor = textIn(status, "waitingFor");
  const detail = stripTerminal(waitingFor === null ? word : `${word}, ${waitingFor}`);
  return { source: "status", detail: `status file: ${detail}`, ...content };
}

/** It has no lock of its own: two processes that resume one conversation are both accepted (2.1.325). */
export function readHolder(
  file: { readonly name: string; readonly content: string },
  nativeId: string,
): { readonly pid: number; readonly startTicks: string } | null {
  const status = parseFields(file.content);
  if (status === null || textIn(status, "sessionId") !== nativeId) return null;
  const startTicks = textIn(status, "procStart");
  const pid = countIn(status, "pid");
  return startTicks === null || file.name !== `${pid}.json` ? null : { pid, startTicks };
}

function contentOf(status: Fields, known: Known): Pick<Reading, "activity" | "asks" | "background"> | null {
  switch (textIn(status, "status")) {
    case "busy":
      return isOlderThanQuestion(status, known) ? null : { activity: "working" };
    case "idle":
      return atPrompt(status, known, known.background.filter(isMcpTask));
    case "shell":
      return atPrompt(
        status,
        known,
        known.background.filter(({ kind }) => kind === "command"),
      );
    case "waiting":
      return waitingOf(textIn(status, "waitingFor"), known);
    default:
      return null;
  }
}

/** No subagent works then, and nothing else but these. */
function atPrompt(
  status: Fields,
  known: Known,
  running: Known["background"],
): Pick<Reading, "activity" | "background"> | null {
  if (isAboutToTakePrompt(known) || isOlderThanQuestion(status, known)) return null;
  return { activity: "idle", ...(known.background.length === 0 ? {} : { background: { running } }) };
}

function isOlderThanQuestion(status: Fields, known: Known): boolean {
  const latest = Math.max(0, ...known.approvals.map(askedAtOf));
  return latest > 0 && countIn(status, "statusUpdatedAt") <= latest;
}

/** It is idle for about 0.1 s before it takes the prompt of its command line. */
function isAboutToTakePrompt(known: Known): boolean {
  const { prompt } = known.launch;
  return known.activity === "starting" && known.lastVerdict === null && prompt !== null && fitsCommandLine(prompt);
}

/** A hook has said, or will say, what is asked; this must not overwrite it with less. */
function waitingOf(waitingFor: string | null, known: Known): Pick<Reading, "activity" | "asks"> | null {
  if (known.activity === "awaiting-input" || known.activity === "awaiting-approval") return null;
  if (waitingFor === "permission prompt") return { activity: "awaiting-approval" };
  return {
    activity: "awaiting-input",
    asks: `Claude Code waits for a person (${stripTerminal(waitingFor ?? "it does not say for what").slice(0, 200)}): look at its screen.`,
  };
}
