/** Gemini CLI (0.61.0): what it is told, and what is made of what it says. docs/spec/agent-behaviors/gemini.md */
import { homeParts } from "./home-parts.ts";
import { join } from "node:path";
import type { InputStep } from "../../session/input.ts";
import type { ActivityStatus } from "../../session/session.ts";
import { processesOnly } from "../foreign.ts";
import type { Agent, Known } from "../contract.ts";
import { CAPTURE_VARIABLES } from "./capture-plan.ts";
import { PATH_VARIABLES, userDirOf } from "./home-overlay.ts";
import { shownOf } from "./approval-request.ts";
import { readHook } from "./hook-record.ts";
import { planLaunch } from "./launch-plan.ts";
import { readAccount } from "./account.ts";
import { failureOf } from "./failure-of.ts";
import { LOGIN_VARIABLES, readLogin } from "./login.ts";
import { readMessages } from "./transcript-messages.ts";
import { readLine } from "./transcript-reading.ts";

export const geminiAgent: Agent = {
  name: "gemini",
  capabilities: { turns: true, confirms: true, transcript: true, steer: false },
  wait: "notification",
  captures: { native: false, proxy: true },
  captureVariables: CAPTURE_VARIABLES,
  deletesTranscripts: true,
  program: {
    command: "gemini",
    versionArgs: ["--version"],
    readVersion: (output) => /^v?(\d+\.\d+\.\d+(?:-[\w.]+)?)\s*$/m.exec(output)?.[1] ?? null,
    oldest: "0.61.0",
    install: "npm install -g @google/gemini-cli",
    login: "gemini",
  },
  sessionVariables: [
    "GEMINI_CLI",
    "GEMINI_CLI_NO_RELAUNCH",
    "GEMINI_CLI_IDE_SERVER_PORT",
    "GEMINI_CLI_IDE_AUTH_TOKEN",
    "GEMINI_CLI_IDE_WORKSPACE_PATH",
  ],
  pathVariables: PATH_VARIABLES,
  loginVariables: () => LOGIN_VARIABLES,
  readLogin,
  readAccount,
  failureOf,
  foreign: processesOnly,
  plan: planLaunch,
  encode,
  interrupt: [{ type: "key", key: "Escape" }],
  // Esc refuses in every dialog; the number of "No" differs. Either way the turn is cancelled.
  encodeAnswer: (_approval, decision) => [{ type: "key", key: decision === "approved" ? "1" : "Escape" }],
  shownOf,
  accepts: (activity) => ACCEPTS[activity],
  readHook,
  readLine,
  readMessages,
  readStatus: () => null,
  readOpenFiles: () => null,
  searchTranscript,
  homeParts,
};

/** It would queue what is typed during a turn, out of Reeve's sight; so it waits in the mailbox instead. */
const ACCEPTS = {
  starting: false,
  working: false,
  idle: true,
  "awaiting-approval": false,
  "awaiting-input": false,
  unknown: true,
} as const satisfies Record<ActivityStatus, boolean>;

/** Enter that comes with the paste is swallowed. */
const PAUSE_BEFORE_ENTER_MS = 200;

function encode({ text, submit }: { readonly text: string; readonly submit: boolean }): readonly InputStep[] {
  const steps: InputStep[] = [];
  if (text !== "") steps.push({ type: "paste", text: submit ? `${text}${endOf(text)}` : text });
  if (text !== "" && submit) steps.push({ type: "pause", ms: PAUSE_BEFORE_ENTER_MS });
  if (submit) steps.push({ type: "key", key: "Enter" });
  return steps;
}

/**
 * What keeps Enter from doing something else (0.61.0), and is trimmed: a backslash before it would make it a line break,
 * and on the first line of a command it takes what its list of commands offers, which a busy machine fills late: "/quit"
 * became "/clear". On a second line nothing is offered.
 */
function endOf(text: string): string {
  if (text.startsWith("/")) return "\n";
  return text.endsWith("\\") ? " " : "";
}

/** tmp/<project>/chats/session-<minute>-<first 8 digits of the id>.jsonl: neither project nor minute is known before. */
function searchTranscript(known: Known): { root: string; depth: number; suffix: string } | null {
  const dir = userDirOf(known.launch);
  if (dir === null || known.nativeId === null) return null;
  return { root: join(dir, "tmp"), depth: 3, suffix: `-${known.nativeId.slice(0, 8)}.jsonl` };
}
