/** How one Claude Code process is started: its conversation, Reeve's hooks, the user's own arguments, the first prompt. */
import { isAbsolute, join, resolve } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { LaunchContext, LaunchPlan } from "../contract.ts";
import { hookScript } from "../hook-script.ts";
import { REMEMBERING_TOOL, reminderScript } from "../reminder.ts";
import { planCapture } from "./capture-plan.ts";
import { clashNote } from "../mcp-server.ts";
import { NOTIFICATION } from "./background-task.ts";
import { debugFileOf } from "../native-capture.ts";
import { nativeIdOf } from "../native-id.ts";
import { withHooks } from "./hook-settings.ts";
import { mcpOf, withAllowed } from "./mcp-config.ts";
import { type Fields, fieldsOrNull, parseFields } from "../../platform/json-fields.ts";
import { configDirOf, transcriptPathOf } from "./transcript-path.ts";
import { readUserArguments } from "./user-arguments.ts";

export function planLaunch(context: LaunchContext): LaunchPlan {
  const { sessionId, launch, resume, sessionDir, prompt } = context;
  const isPromptLeftOut = prompt !== null && !fitsCommandLine(prompt);
  const { rest, settings } = readUserArguments(launch.args);
  const script = hookScript(sessionDir);
  const settingsFile = join(sessionDir, "claude-settings.json");
  const users = settings === null ? {} : readSettings(settings, context);
  const nearest = [users, ...settingsFiles(context)];
  refuseWithoutHooks(nearest);
  const mcp = mcpOf(context);
  const capture = planCapture(context, nearest);
  const base = launch.container === null ? users : { sandbox: { enabled: false }, ...users };
  const reminder = context.reminds === true && mcp !== null ? reminderScript(sessionDir, REMINDER_HOOKS) : null;
  const awaitsTools = mcp?.awaited.script.path ?? null;
  const hooked = withHooks(base, script.path, { reminder: reminder?.path ?? null, awaitsTools });
  const merged = withVariables(withAllowed(hooked, mcp, reminder === null ? [] : [REMEMBERING_TOOL]), capture.settings);
  const nativeId = resume?.nativeId ?? context.newId ?? nativeIdOf(sessionId);
  const configDir = configDirOf(launch.paths);
  const debugFile = debugFileOf(context.capture);
  return {
    argv: [
      context.program?.path ?? "claude",
      "--settings",
      settingsFile,
      ...(mcp === null ? [] : [`--mcp-config=${mcp.file.path}`]),
      ...(resume === null ? ["--session-id", nativeId] : ["--resume", nativeId]),
      ...(launch.model === null ? [] : ["--model", launch.model]),
      ...(debugFile === null ? [] : ["--debug-file", debugFile]),
      ...rest,
      // After `--`, because a prompt may begin with a dash.
      ...(prompt === null || isPromptLeftOut ? [] : ["--", prompt]),
    ],
    // A container is a sandbox: root, too, may skip its questions there.
    environment: { ...(launch.container === null ? {} : { IS_SANDBOX: "1" }), ...capture.environment },
    files: [
      script,
      ...(reminder === null ? [] : [reminder]),
      { path: settingsFile, content: `${JSON.stringify(merged, null, 2)}\n`, isExecutable: false },
      ...(mcp === null ? [] : [mcp.file, mcp.awaited.script]),
    ],
    nativeId,
    transcriptPath:
      resume?.transcriptPath ?? (configDir === null ? null : transcriptPathOf(configDir, launch.cwd, nativeId)),
    observabilityReason:
      "Claude Code writes its transcript once it has taken its first prompt; until then its screen is shown.",
    isPromptLeftOut,
    mode: {
      name: "hooks",
      text: `Reeve learns of turns and questions from hooks, of interruptions and usage from the transcript, and of what it is doing from Claude Code's own status file.${clashNote(context.mcp, mcp?.server ?? null)}`,
    },
    channel: null,
    statusDir: configDir === null ? null : join(configDir, "sessions"),
    ...(reminder === null ? {} : { reminds: true }),
    ...(capture.planned === null ? {} : { capture: capture.planned }),
  };
}

const REMINDER_HOOKS = { turnField: "prompt_id", continuing: NOTIFICATION, isTold: true } as const;

/** One argument may have 128 KiB on Linux; the rest is room for what wraps it. */
const LONGEST_PROMPT_BYTES = 100_000;

export function fitsCommandLine(prompt: string): boolean {
  return Buffer.byteLength(prompt) <= LONGEST_PROMPT_BYTES;
}

function readSettings(given: string, { launch, read }: LaunchContext): Fields {
  const isJson = given.trimStart().startsWith("{");
  const path = isAbsolute(given) ? given : resolve(launch.cwd, given);
  const text = isJson ? given : read(path);
  const settings = text === null ? null : parseFields(text);
  if (settings !== null) return settings;
  throw new ReeveError({
    code: "settings-unreadable",
    kind: "usage",
    message: isJson
      ? "The value of --settings is not a JSON object: correct it, or give the path of a file."
      : `The settings file ${path} is missing or holds no JSON object: correct it, or leave --settings out.`,
  });
}

/** Of several settings the nearest counts: those of the command line, the project's (local first), the user's. */
function settingsFiles({ launch, read }: LaunchContext): readonly (Fields | null)[] {
  const configDir = configDirOf(launch.paths);
  const paths = [
    join(launch.cwd, ".claude", "settings.local.json"),
    join(launch.cwd, ".claude", "settings.json"),
    ...(configDir === null ? [] : [join(configDir, "settings.json")]),
  ];
  return paths.map((path) => parseFields(read(path) ?? ""));
}

function withVariables(settings: Fields, variables: Readonly<Record<string, string>>): Fields {
  if (Object.keys(variables).length === 0) return settings;
  return { ...settings, env: { ...fieldsOrNull(settings["env"]), ...variables } };
}

function refuseWithoutHooks(settings: readonly (Fields | null)[]): void {
  const nearest = settings.find((one) => typeof one?.["disableAllHooks"] === "boolean");
  if (nearest?.["disableAllHooks"] !== true) return;
  throw new ReeveError({
    code: "hooks-disabled",
    kind: "usage",
    message: `Your Claude Code settings have "disableAllHooks", and without hooks Reeve cannot see turns: remove it, or allow hooks in this session with: -- --settings '{"disableAllHooks":false}'.`,
  });
}
