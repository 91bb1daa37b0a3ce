/**
 * Codex (OpenAI's CLI), run in one of two ways: with an app-server of the
 * session's own, whose protocol tells everything, or as one process that is
 * watched through hooks and its rollout file. launch-plan.ts chooses.
 */
import type { ApprovalRequest, Decision } from "../../session/approval.ts";
import type { InputStep } from "../../session/input.ts";
import type { ActivityStatus } from "../../session/session.ts";
import type { Agent } from "../contract.ts";
import type { Parts } from "./app-server-launch.ts";
import { CAPTURE_VARIABLES } from "./capture-plan.ts";
import { openChannel } from "./channel.ts";
import { directoryLink, homeParts, PATH_VARIABLES } from "./codex-home.ts";
import { shownOf } from "./hook-approval.ts";
import { readSpooled } from "./hook-record.ts";
import { planLaunch } from "./launch-plan.ts";
import { codexForeign } from "./foreign.ts";
import { readAccount } from "./account.ts";
import { failureOfText } from "./failure-of.ts";
import { LIMIT_HEADERS, LIMIT_MESSAGES, readLimitHeaders, readLimitMessage } from "./limit-headers.ts";
import { loginVariables, readLogin } from "./login.ts";
import { codexNative } from "./native-capture.ts";
import { readOpenFiles, searchRollout } from "./open-files.ts";
import { readRolloutLine } from "./rollout-line.ts";
import { readRolloutMessages } from "./rollout-messages.ts";
import { sandboxCommand } from "./sandbox.ts";
import { SESSION_VARIABLES } from "./session-variables.ts";
import { asPrompt } from "./shell-command.ts";
import { socketFiles } from "./socket-files.ts";
import { OLDEST } from "./version-support.ts";

export function codexAgent(parts: Parts): Agent {
  return {
    name: "codex",
    capabilities: { turns: true, transcript: true, confirms: true, steer: true },
    wait: "notification",
    // docs/spec/agent-behaviors/codex-observability.md
    hidesFirstTurn: true,
    canAdopt: true,
    captures: { native: true, proxy: true },
    captureVariables: CAPTURE_VARIABLES,
    native: codexNative,
    readLimitHeaders,
    limitHeaders: LIMIT_HEADERS,
    readLimitMessage,
    limitMessages: LIMIT_MESSAGES,
    caVariables: ["CODEX_CA_CERTIFICATE"],
    transcriptName: (nativeId) => `rollout-${nativeId}.jsonl`,
    directoryLink,
    homeParts,
    program: {
      command: "codex",
      versionArgs: ["--version"],
      readVersion,
      oldest: OLDEST,
      install: "npm install -g @openai/codex",
      login: "codex login",
    },
    sessionVariables: SESSION_VARIABLES,
    pathVariables: PATH_VARIABLES,
    loginVariables,
    readLogin,
    readAccount,
    failureOf: failureOfText,
    foreign: codexForeign,
    sandbox: sandboxCommand,
    plan: (context) => planLaunch(context, parts),
    encode,
    interrupt: [{ type: "key", key: "Escape" }],
    encodeAnswer,
    shownOf,
    accepts: (activity) => ACCEPTS[activity],
    readHook: readSpooled,
    readLine: readRolloutLine,
    readMessages: readRolloutMessages,
    readStatus: () => null,
    readOpenFiles,
    searchTranscript: searchRollout,
    socketFiles,
    openChannel,
  };
}

/** Codex steers a turn under way with what is typed; a dialog takes keys, not messages. */
const ACCEPTS = {
  starting: false,
  working: true,
  idle: true,
  "awaiting-approval": false,
  "awaiting-input": false,
  unknown: false,
} as const satisfies Record<ActivityStatus, boolean>;

/** Codex takes a quick run of keys for a paste, in which Enter is a line break (0.166.0): hence the pause. */
const AFTER_PASTE_MS = 200;

/** `codex-cli 0.166.0` */
function readVersion(output: string): string | null {
  return /^codex(?:-cli)? (\d+\.\d+\.\d+\S*)/m.exec(output)?.[1] ?? null;
}

function encode({ text, submit }: { readonly text: string; readonly submit: boolean }): readonly InputStep[] {
  const steps: InputStep[] = [];
  if (text !== "") steps.push({ type: "paste", text: typeable(text) });
  if (text !== "" && submit) steps.push({ type: "pause", ms: AFTER_PASTE_MS });
  if (submit) steps.push({ type: "key", key: "Enter" });
  return steps;
}

/** Behind a word that begins with `@` or `$` a list of files or skills is open, and Enter would choose from it (0.166.0). */
function typeable(text: string): string {
  const prompt = asPrompt(text);
  return /(?:^|\s)[@$]\S*$/.test(prompt) ? `${prompt} ` : prompt;
}

/**
 * Esc says no; about a command or an edit it also ends the turn, whose dialog
 * has no key for a no alone (0.166.0). The channel has. An MCP tool's dialog is
 * a list with "Allow" chosen.
 */
function encodeAnswer({ kind }: ApprovalRequest, decision: Decision): readonly InputStep[] {
  if (decision === "denied") return [{ type: "key", key: "Escape" }];
  return [{ type: "key", key: kind === "tool" ? "Enter" : "y" }];
}
