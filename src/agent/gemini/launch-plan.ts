/** How Gemini CLI is started for a session: its arguments, its environment and the files they refer to. */
import { join } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { AgentSettings, LaunchContext, LaunchPlan } from "../contract.ts";
import { hookScript } from "../hook-script.ts";
import { clashNote, type McpServer } from "../mcp-server.ts";
import { debugFileOf } from "../native-capture.ts";
import { nativeIdOf } from "../native-id.ts";
import { planCapture } from "./capture-plan.ts";
import { isTrustDecided } from "./folder-trust.ts";
import { overlayHomeOf, requireUserDir } from "./home-overlay.ts";
import { mcpPolicy } from "./mcp-settings.ts";
import { type EmptyConversations, type SessionScripts, sessionScripts } from "./session-scripts.ts";
import { settingsOverlay } from "./settings-overlay.ts";
import { shellQuote } from "../../platform/shell-quote.ts";
import { refuseContradictions } from "./user-arguments.ts";

export function planLaunch(context: LaunchContext): LaunchPlan {
  const { launch, sessionDir, resume } = context;
  refuseContradictions(launch.args, launch.model);
  const userDir = requireUserDir(launch);
  const overlayHome = overlayHomeOf(sessionDir);
  const overlayDir = join(overlayHome, ".gemini");
  const nativeId = resume === null ? nativeIdOf(context.sessionId) : conversationOf(resume.nativeId);
  const hook = hookScript(sessionDir);
  const settingsPath = join(userDir, "settings.json");
  const policies = { users: join(overlayDir, "policies"), own: join(sessionDir, "gemini-policy.toml") };
  const workspaceText = context.read(join(launch.cwd, ".gemini", "settings.json"));
  // Not the model hooks: they run for every request and every piece of an answer, and the agent waits for each.
  const commandsOf = ({ start, before, after }: SessionScripts) => ({
    SessionStart: shellQuote(start.path),
    BeforeAgent: shellQuote((before ?? hook).path),
    AfterAgent: shellQuote(after.path),
    Notification: shellQuote(hook.path),
  });
  const scriptsWith = (mcp: McpServer | null): SessionScripts =>
    sessionScripts(sessionDir, emptyConversationsOf(context.settings), context.reminds === true && mcp !== null);
  const settings = settingsOverlay(context.read(settingsPath), settingsPath, (mcp) => commandsOf(scriptsWith(mcp)), {
    server: context.mcp,
    workspaceText,
    policies,
  });
  const scripts = scriptsWith(settings.mcp);
  const isReminded = scripts.before !== null && settings.hasHooks;
  const capture = planCapture(context, userDir);
  const debugFile = debugFileOf(context.capture);
  const trustPath = trustPathOf(launch.paths, userDir);
  const trust = { folders: context.read(trustPath), settings: context.read(settingsPath) };
  const isPromptLeftOut =
    context.prompt !== null &&
    (Buffer.byteLength(context.prompt) > PROMPT_IN_ARGUMENT_BYTES || !isTrustDecided(launch.cwd, launch.args, trust));
  return {
    argv: [
      "/bin/sh",
      scripts.launch.path,
      userDir,
      overlayDir,
      nativeId,
      context.program?.path ?? "gemini",
      ...(resume === null ? ["--session-id", nativeId] : ["--resume", nativeId]),
      ...(launch.model === null ? [] : ["--model", launch.model]),
      ...launch.args,
      // In one argument, so that a prompt may begin with a dash.
      ...(context.prompt === null || isPromptLeftOut ? [] : [`--prompt-interactive=${context.prompt}`]),
    ],
    environment: {
      GEMINI_CLI_HOME: overlayHome,
      // Written by renaming, which would replace a link: what the user trusts in a session stays trusted.
      GEMINI_CLI_TRUSTED_FOLDERS_PATH: trustPath,
      // Else it runs as a parent that ignores signals, and a child.
      GEMINI_CLI_NO_RELAUNCH: "true",
      // The container is its sandbox; it has none to start inside.
      ...(launch.container === null || asksForSandbox(launch.args) ? {} : { GEMINI_SANDBOX: "false" }),
      ...capture.environment,
      ...(debugFile === null ? {} : { GEMINI_DEBUG_LOG_FILE: debugFile }),
    },
    files: [
      hook,
      scripts.launch,
      scripts.start,
      scripts.after,
      ...(scripts.before === null ? [] : [scripts.before]),
      { path: join(overlayDir, "settings.json"), content: settings.content, isExecutable: false },
      ...(settings.mcp === null ? [] : [{ path: policies.own, content: mcpPolicy(isReminded), isExecutable: false }]),
    ],
    nativeId,
    transcriptPath: resume?.transcriptPath ?? null,
    observabilityReason: "The transcript appears when Gemini CLI is ready, a few seconds after its start.",
    isPromptLeftOut,
    mode: modeOf(settings.hasHooks ? HOOKS : SCREEN, clashNote(context.mcp, settings.mcp)),
    channel: null,
    statusDir: null,
    ...(isReminded ? { reminds: true } : {}),
    ...(capture.planned === null ? {} : { capture: capture.planned }),
  };
}

function asksForSandbox(args: readonly string[]): boolean {
  return args.some((word) => /^(?:-s|--sandbox)(?:=|$)/.test(word));
}

/** Linux allows 128 KiB in one argument. */
const PROMPT_IN_ARGUMENT_BYTES = 100_000;

const HOOKS = {
  name: "hooks",
  text: "Reeve learns of turns and approvals from hooks, of interruptions from the transcript, and of the rest from the screen.",
} as const;

const SCREEN = {
  name: "screen",
  text: "Hooks are switched off in its settings (hooksConfig.enabled), so Reeve reads turns from its title and screen.",
} as const;

function modeOf(mode: LaunchPlan["mode"], note: string): LaunchPlan["mode"] {
  return { ...mode, text: `${mode.text}${note}` };
}

/** In config.toml: `[agent.gemini]`, `remove_empty_conversations = true`. */
function emptyConversationsOf(settings: AgentSettings): EmptyConversations {
  return settings["remove_empty_conversations"] === true ? "removed" : "kept";
}

function trustPathOf(paths: Readonly<Record<string, string>>, userDir: string): string {
  const own = paths["GEMINI_CLI_TRUSTED_FOLDERS_PATH"];
  return own === undefined || own === "" ? join(userDir, "trustedFolders.json") : own;
}

const CONVERSATION_PATTERN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function conversationOf(nativeId: string): string {
  if (CONVERSATION_PATTERN.test(nativeId)) return nativeId;
  throw new ReeveError({
    code: "conversation-malformed",
    kind: "usage",
    message: "A Gemini conversation is named by a UUID in lower case: give the id the session shows as native_id.",
  });
}
