/**
 * Hooks mode: Codex as one process whose hooks write what happens into the
 * spool. For versions without an app-server, or on request.
 */
import type { LaunchContext, LaunchPlan } from "../contract.ts";
import { hookScript } from "../hook-script.ts";
import { hookFlags } from "./hook-flags.ts";
import { notifyChain } from "./notify-chain.ts";
import type { UserArguments } from "./user-arguments.ts";
import { supports } from "./version-support.ts";

export function planHooks(
  context: LaunchContext,
  codex: string,
  user: UserArguments,
  mcpFlags: readonly string[],
  why: string,
): Omit<LaunchPlan, "isPromptLeftOut"> {
  const { launch, resume, prompt, sessionDir, program } = context;
  const version = program?.version ?? null;
  const hook = hookScript(sessionDir);
  const chain = supports(version, "sessionHooks") ? null : notifyChain(context);
  const argv = [
    codex,
    ...(resume === null ? [] : ["resume"]),
    ...(supports(version, "noDaemonFlag") ? ["--no-daemon"] : []),
    ...(chain === null ? hookFlags(hook.path) : chain.flags),
    ...(launch.model === null ? [] : ["--model", launch.model]),
    ...mcpFlags,
    ...user.all,
  ];
  const words = [...(resume === null ? [] : [resume.nativeId]), ...(prompt === null ? [] : [prompt])];
  if (words.length > 0) argv.push("--", ...words);
  return {
    argv,
    environment: {},
    files: chain === null ? [hook] : [hook, chain.file],
    nativeId: resume?.nativeId ?? null,
    transcriptPath: resume?.transcriptPath ?? null,
    observabilityReason: reasonOf(resume !== null),
    mode: {
      name: "hooks",
      text: `Reeve learns what Codex does from its hooks and its transcript (the rollout file): ${why}.`,
    },
    channel: null,
    statusDir: null,
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
