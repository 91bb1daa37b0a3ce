/**
 * The answers of an agent that reports nothing about itself: it has no hook,
 * transcript, status file or question of its own.
 */
import type { Agent } from "./contract.ts";

export const silentAgent = {
  capabilities: { turns: false, confirms: false, transcript: false, steer: false },
  wait: "notification",
  program: null,
  sessionVariables: [],
  pathVariables: [],
  interrupt: null,
  encodeAnswer: () => null,
  shownOf: () => [],
  readHook: () => null,
  readLine: () => null,
  readMessages: () => [],
  readStatus: () => null,
  readOpenFiles: () => null,
  searchTranscript: () => null,
} as const satisfies Partial<Agent>;
