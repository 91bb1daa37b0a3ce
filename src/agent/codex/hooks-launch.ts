/**
 * Hooks mode: Codex as one process whose hooks write what happens into the
 * spool. For versions without an app-server, or on request.
 */
import type { LaunchContext, LaunchPlan } from "../contract.ts";
import { hookScript } from "../hook-script.ts";
import { reminderScript } from "../reminder.ts";
import { hookFlags, REMINDER_HOOKS } from "./hook-flags.ts";
import type { CodexMcp } from "./mcp-flags.ts";
import { notifyChain } from "./notify-chain.ts";
import { NO_MODEL_NUDGE } from "./unattended-flags.ts";
import type { UserArguments } from "./user-arguments.ts";
import { supports } from "./version-support.ts";

export function planHooks(
  context: LaunchContext,
  codex: string,
  user: UserArguments,
  mcp: CodexMcp,
  why: string,
): Omit<LaunchPlan, "isPromptLeftOut"> {
  const { launch, resume, prompt, sessionDir, program } = context;
  const version = program?.version ?? null;
  const hook = hookScript(sessionDir);
  const chain = supports(version, "sessionHooks") ? null : notifyChain(context);
  const isReminded = context.reminds === true && mcp.server !== null && chain === null;
  const reminder = isReminded ? reminderScript(sessionDir, { ...REMINDER_HOOKS, isTold: true }) : null;
  const argv = [
    codex,
    ...(resume === null ? [] : ["resume"]),
    ...(supports(version, "noDaemonFlag") ? ["--no-daemon"] : []),
    ...(chain === null ? hookFlags(hook.path, reminder?.path ?? null) : chain.flags),
    ...NO_MODEL_NUDGE,
    ...(launch.model === null ? [] : ["--model", launch.model]),
    ...mcp.flags,
    ...user.all,
  ];
  const words = [...(resume === null ? [] : [resume.nativeId]), ...(prompt === null ? [] : [prompt])];
  if (words.length > 0) argv.push("--", ...words);
  return {
    argv,
    environment: {},
    files: [hook, ...(chain === null ? [] : [chain.file]), ...(reminder === null ? [] : [reminder])],
    nativeId: resume?.nativeId ?? null,
    transcriptPath: resume?.transcriptPath ?? null,
    observabilityReason: reasonOf(resume !== null),
    mode: {
      name: "hooks",
      text: `Reeve learns what Codex does from its hooks and its transcript (the rollout file): ${why}.`,
    },
    channel: null,
    statusDir: null,
    ...(reminder === null ? {} : { reminds: true }),
  };
}

function reasonOf(isResumed: boolean): string {
  if (isResumed)
    return "Codex continues its transcript (the rollout file) with the next prompt; until then there is nothing new to read.";
  return (
    "Codex writes its transcript (the rollout file) when it takes its first prompt, older versions after the first " +
    "turn. It is normal that the file is missing now: Reeve shows the screen, and a notification says when there is more."
  );
}
