/** Which of the two ways Codex is run, and why. */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { LaunchContext, LaunchPlan } from "../contract.ts";
import { type Parts, planAppServer } from "./app-server-launch.ts";
import { clashNote } from "../mcp-server.ts";
import { planCapture } from "./capture-plan.ts";
import { planHooks } from "./hooks-launch.ts";
import { mcpOf } from "./mcp-flags.ts";
import { isShellCommand } from "./shell-command.ts";
import { isThreadId } from "./thread-id.ts";
import { readUserArguments } from "./user-arguments.ts";
import { since, supports } from "./version-support.ts";

/** Linux takes 131,071 bytes in one argument; the prompt is one. */
const LONGEST_PROMPT_BYTES = 120_000;

export function planLaunch(given: LaunchContext, parts: Parts): LaunchPlan {
  const { launch, program, resume, settings } = given;
  if (resume !== null && !isThreadId(resume.nativeId))
    throw usage("A Codex conversation is named by a UUID: give the id that `codex resume` shows.");
  const prompt = given.prompt ?? "";
  const isPromptLeftOut = Buffer.byteLength(prompt) > LONGEST_PROMPT_BYTES || isShellCommand(prompt);
  const context = isPromptLeftOut ? { ...given, prompt: null } : given;
  const codex = program?.path ?? "codex";
  const user = readUserArguments(launch.args);
  const isInside = launch.container !== null;
  const why = isInside ? IN_CONTAINER : whyHooks(settings["mode"], program?.version ?? null, user.undivided);
  const mcp = mcpOf(context);
  const capture = planCapture(context, user);
  // Behind the user's own, so that they count.
  const captured = {
    ...user,
    all: [...(isInside ? NO_SANDBOX : []), ...user.all, ...capture.flags],
    server: [...user.server, ...capture.flags],
  };
  const plan =
    why === null ? planAppServer(context, codex, captured, mcp, parts) : planHooks(context, codex, captured, mcp, why);
  const mode = { ...plan.mode, text: `${plan.mode.text}${clashNote(context.mcp, mcp.server)}` };
  const environment = { ...plan.environment, ...capture.environment };
  return {
    ...plan,
    mode,
    environment,
    isPromptLeftOut,
    ...(capture.planned === null ? {} : { capture: capture.planned }),
  };
}

const IN_CONTAINER = "it runs in a container, where Reeve does not reach its app-server";

/** Codex's own cannot be made in a container, which is one itself. Before the user's arguments, so that theirs count. */
const NO_SANDBOX = ["-c", 'sandbox_mode="danger-full-access"'] as const;

/** Null: app-server mode. */
function whyHooks(mode: unknown, version: string | null, undivided: string | null): string | null {
  if (mode !== undefined && mode !== "app-server" && mode !== "hooks")
    throw usage('The setting mode of [agent.codex] must be "app-server" or "hooks".');
  if (mode === "hooks") return "the settings ask for it";
  if (undivided !== null) {
    if (mode === undefined) return `${undivided} cannot be given to an app-server`;
    throw usage(
      `Codex's ${undivided} cannot be given to an app-server: leave it out, or set mode = "hooks" in [agent.codex].`,
    );
  }
  if (mode === undefined && !supports(version, "appServer"))
    return `version ${version} is older than ${since("appServer")}, the first whose app-server Reeve can use`;
  return null;
}

function usage(message: string): ReeveError {
  return new ReeveError({ code: "launch-unsupported", kind: "usage", message });
}
