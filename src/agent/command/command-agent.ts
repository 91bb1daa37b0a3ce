/**
 * Any program as a session: a dev server, a build, a shell. It has no turns, no
 * transcript and no hooks, so one can only look at its screen and wait for its
 * exit.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { InputStep } from "../../session/input.ts";
import type { Agent, LaunchContext, LaunchPlan } from "../contract.ts";
import { silentAgent } from "../silent-agent.ts";

/**
 * It waits as all do: its exit is an event like any other and reaches every
 * waiter. Polling could only tell the same thing later; the screen may be read
 * at any time.
 */
export const commandAgent: Agent = {
  ...silentAgent,
  name: "command",
  plan,
  encode,
  // Nobody can tell what a plain program is doing, so nothing is held back.
  accepts: () => true,
};

function plan({ launch }: LaunchContext): LaunchPlan {
  if (launch.args.length === 0 || launch.args[0] === "") {
    throw new ReeveError({
      code: "command-missing",
      kind: "usage",
      message: "Say what to run after --, for example: reeve start command -- npm run dev.",
    });
  }
  if (launch.prompt !== null) {
    throw new ReeveError({
      code: "prompt-unsupported",
      kind: "usage",
      message: "A command takes no prompt: put the program after -- and type into it later with reeve send.",
    });
  }
  if (launch.model !== null) {
    throw new ReeveError({
      code: "model-unsupported",
      kind: "usage",
      message: "A command has no model to choose: leave --model out.",
    });
  }
  return {
    argv: launch.args,
    environment: {},
    files: [],
    nativeId: null,
    transcriptPath: null,
    observabilityReason: "A plain command writes no transcript; its screen is shown instead.",
    isPromptLeftOut: false,
    mode: { name: "process", text: "Only its process and its screen can be seen." },
    channel: null,
    statusDir: null,
  };
}

function encode({ text, submit }: { readonly text: string; readonly submit: boolean }): readonly InputStep[] {
  const steps: InputStep[] = [];
  if (text !== "") steps.push({ type: "paste", text });
  if (submit) steps.push({ type: "key", key: "Enter" });
  return steps;
}
