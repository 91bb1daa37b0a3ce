/**
 * An agent that only the configuration knows: a command with patterns for its
 * screen, so that aider, opencode and others work without code. Only its screen
 * is read: working begins a turn, ready ends it.
 */
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { ActivityStatus } from "../../session/session.ts";
import type { Agent, AgentSettings, LaunchContext, LaunchPlan } from "../contract.ts";
import type { Pattern } from "../pattern.ts";
import { loadPatternCompiler } from "../pattern.ts";
import type { ScreenRule } from "../screen-rules.ts";
import { commandAgent } from "./command-agent.ts";

export function declaredAgent(name: string, command: readonly string[], settings: AgentSettings): Agent {
  requireKnown(name, command, settings);
  const knowsTurns = settings["ready"] !== undefined && settings["working"] !== undefined;
  return {
    ...commandAgent,
    name,
    capabilities: { ...commandAgent.capabilities, turns: knowsTurns },
    plan: (context) => plan(command, context),
    interrupt: [{ type: "key", key: "Escape" }],
    accepts: (activity) => !knowsTurns || ACCEPTS[activity],
  };
}

/** Rejects with a sentence about the first pattern that cannot be used. */
export async function declaredRules(name: string, settings: AgentSettings): Promise<readonly ScreenRule[]> {
  if (!hasPatterns(settings)) return [];
  const compile = await loadPatternCompiler();
  const pattern = (key: string): Pattern | null => {
    const text = settings[key];
    if (text === undefined) return null;
    try {
      return compile(String(text));
    } catch (error) {
      throw invalid(name, `${key} ${messageOf(error)}`);
    }
  };
  const [ready, working, waiting] = [pattern("ready"), pattern("working"), pattern("waiting")];
  const rule = (
    of: Pattern,
    rest: Pick<ScreenRule, "name" | "activity" | "turn"> & Partial<ScreenRule>,
  ): ScreenRule => ({
    versions: null,
    bottom: 15,
    title: null,
    screen: [of],
    unless: [],
    composer: null,
    asks: null,
    asksText: null,
    dialog: null,
    error: null,
    limit: null,
    resets: null,
    choices: null,
    ...rest,
  });
  return [
    ...(waiting === null
      ? []
      : [rule(waiting, { name: "waiting", activity: "awaiting-input", turn: null, asks: waiting })]),
    ...(working === null ? [] : [rule(working, { name: "working", activity: "working", turn: "started" })]),
    ...(ready === null ? [] : [rule(ready, { name: "ready", activity: "idle", turn: "completed" })]),
  ];
}

export function hasPatterns(settings: AgentSettings): boolean {
  return SETTINGS.some((key) => settings[key] !== undefined);
}

const SETTINGS = ["ready", "working", "waiting"];

const ACCEPTS = {
  starting: false,
  working: false,
  idle: true,
  "awaiting-approval": true,
  "awaiting-input": true,
  unknown: true,
} as const satisfies Record<ActivityStatus, boolean>;

function plan(command: readonly string[], context: LaunchContext): LaunchPlan {
  const { launch } = context;
  const planned = commandAgent.plan({
    ...context,
    launch: { ...launch, args: [...command, ...launch.args], prompt: null },
  });
  return {
    ...planned,
    isPromptLeftOut: true,
    mode: { name: "screen", text: "Only its process and its screen can be seen; patterns say what the screen means." },
  };
}

function requireKnown(name: string, command: readonly string[], settings: AgentSettings): void {
  if (command.length === 0) throw invalid(name, "command is missing; give the program to run");
  const unknown = Object.keys(settings).find((key) => !SETTINGS.includes(key));
  if (unknown !== undefined) throw invalid(name, `there is no setting ${unknown}, only ${SETTINGS.join(", ")}`);
}

function invalid(name: string, why: string): ReeveError {
  return new ReeveError({
    code: "config-invalid",
    kind: "config",
    message: `[agent.${name}] of config.toml is not right: ${why}; fix it, then run: reeve daemon stop.`,
  });
}
