/**
 * The session's settings.json: the user's own, with what Reeve needs on top.
 * Made anew for every start. What the user changes in a session (theme, model)
 * is written to this copy and lost with it.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import { withoutComments } from "../../platform/json-comments.ts";
import { type Fields, fieldsOf, isFields, parseFields } from "../../platform/json-fields.ts";
import { type McpServer, withoutClash } from "../mcp-server.ts";
import { mcpSettings } from "./mcp-settings.ts";

/** Which command runs for which hook event. */
export type HookCommands = Readonly<Record<string, string>>;

export interface SettingsOverlay {
  readonly content: string;
  /** False where the user switched hooks off: then theirs and the project's must stay off, and so do Reeve's. */
  readonly hasHooks: boolean;
  /** Null where it was not asked for, or the user has another server of this name. */
  readonly mcp: McpServer | null;
}

/** Where the user's policies are, and where Reeve's is to be. */
export interface McpRequest {
  readonly server: McpServer | null;
  /** The settings of the directory that the session works in. */
  readonly workspaceText: string | null;
  readonly policies: { readonly users: string; readonly own: string };
}

export function settingsOverlay(
  userText: string | null,
  path: string,
  commands: (mcp: McpServer | null) => HookCommands,
  request: McpRequest,
): SettingsOverlay {
  const user = parseSettings(userText, path);
  const workspace = parseFields(withoutComments(request.workspaceText ?? ""));
  const mcp = withoutClash(request.server, user["mcpServers"], fieldsOf(workspace)["mcpServers"]);
  const general = fieldsOf(user["general"]);
  const hooksConfig = fieldsOf(user["hooksConfig"]);
  const hasHooks = hooksConfig["enabled"] !== false;
  const settings = {
    ...user,
    general: {
      ...general,
      enableAutoUpdate: false,
      // With it a start deletes resumed conversations, those of other sessions too (0.61.0).
      sessionRetention: { ...fieldsOf(general["sessionRetention"]), enabled: false },
    },
    // The title says what it does: see rules/gemini.toml.
    ui: { ...fieldsOf(user["ui"]), hideWindowTitle: false, dynamicWindowTitle: true },
    ...(hasHooks ? hooksOf(user, hooksConfig, commands(mcp)) : {}),
    ...(mcp === null ? {} : mcpSettings(user, mcp, request.policies)),
  };
  return { content: `${JSON.stringify(settings, null, 2)}\n`, hasHooks, mcp };
}

function hooksOf(user: Fields, hooksConfig: Fields, commands: HookCommands): Fields {
  const own = fieldsOf(user["hooks"]);
  const added = Object.entries(commands).map(([event, command]) => {
    const before = own[event];
    const hook = { type: "command", name: "reeve", command, timeout: HOOK_TIMEOUT_MS };
    return [event, [...(Array.isArray(before) ? before : []), { hooks: [hook] }]] as const;
  });
  return {
    // "Executing Hook: reeve" on the screen helps nobody; who has hooks of their own keeps the display.
    hooksConfig: { notifications: Object.keys(own).length > 0, ...hooksConfig },
    hooks: { ...own, ...Object.fromEntries(added) },
  };
}

/**
 * A hook writes one small file; the agent waits for it, so it must not hang where the disk does. Not shorter: 0.61.0
 * stands still for 8 s while it lays out a prompt of 40 KB, and then takes a hook that ended long ago for a failed one.
 */
const HOOK_TIMEOUT_MS = 30_000;

function parseSettings(text: string | null, path: string): Fields {
  if (text === null || text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(withoutComments(text));
    if (isFields(value)) return value;
  } catch {
    // Said below.
  }
  throw new ReeveError({
    code: "gemini-settings-unreadable",
    kind: "config",
    message: `Gemini CLI's settings in ${path} are not valid JSON: fix the file and start again.`,
  });
}
