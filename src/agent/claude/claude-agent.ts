/**
 * Claude Code. Reeve learns of turns and questions from its hooks, and of
 * interruptions and usage from its transcript. Where neither says anything, its
 * registry of living sessions shows what it is doing.
 * docs/spec/agent-behaviors/claude.md has the facts.
 */
import { homeParts } from "./home-parts.ts";
import { join } from "node:path";
import type { Agent, Known } from "../contract.ts";
import { shownOf } from "./approval-request.ts";
import { CAPTURE_VARIABLES } from "./capture-plan.ts";
import { claudeForeign } from "./foreign.ts";
import { readHook } from "./hook-record.ts";
import { planLaunch } from "./launch-plan.ts";
import { readAccount } from "./account.ts";
import { readLimitHeaders } from "./limit-headers.ts";
import { claudeNative } from "./native-capture.ts";
import { failureOfText } from "./failure-of.ts";
import { LOGIN_VARIABLES, readLogin } from "./login.ts";
import { readHolder, readStatus } from "./status-file.ts";
import { holdsMessage, readLine } from "./transcript-line.ts";
import { readMessages } from "./transcript-messages.ts";
import { configDirOf } from "./transcript-path.ts";
import { ACCEPTS, encode, encodeAnswer, INTERRUPT } from "./typing.ts";

export const claudeAgent: Agent = {
  name: "claude",
  capabilities: { turns: true, confirms: true, transcript: true, steer: true },
  wait: "notification",
  canAdopt: true,
  captures: { native: true, proxy: true },
  captureVariables: CAPTURE_VARIABLES,
  native: claudeNative,
  readLimitHeaders,
  program: {
    command: "claude",
    versionArgs: ["--version"],
    readVersion: (output) => /^(\d+\.\d+\.\d+\S*) \(Claude Code\)/m.exec(output)?.[1] ?? null,
    oldest: "2.1.197",
    install: "npm install -g @anthropic-ai/claude-code",
    login: "claude (then /login)",
  },
  /** As 2.1.325 sets them for its children, and some that only its background and IDE sessions have. */
  sessionVariables: [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_HOST_SESSION_ID",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
    "CLAUDE_JOB_DIR",
    "AI_AGENT",
  ],
  pathVariables: ["HOME", "CLAUDE_CONFIG_DIR"],
  loginVariables: () => LOGIN_VARIABLES,
  readLogin,
  readAccount,
  failureOf: failureOfText,
  foreign: claudeForeign,
  plan: planLaunch,
  encode,
  interrupt: INTERRUPT,
  encodeAnswer,
  shownOf,
  accepts: (activity) => ACCEPTS[activity],
  readHook,
  readLine,
  holdsMessage,
  readMessages,
  readStatus,
  readHolder,
  readOpenFiles: () => null,
  searchTranscript,
  homeParts,
};

/** The directory's name follows from a path that may hide a symbolic link; the file's name is the id. */
function searchTranscript({ nativeId, launch }: Known): ReturnType<Agent["searchTranscript"]> {
  const configDir = configDirOf(launch.paths);
  if (nativeId === null || configDir === null) return null;
  return { root: join(configDir, "projects"), depth: 2, suffix: `${nativeId}.jsonl` };
}
