/** How each agent is started: its arguments, and a user of its own with a home in which it asks only what it is to ask. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import type { Mode } from "./case.ts";

export const AGENTS: Readonly<Record<Mode, { readonly agent: string; readonly args: readonly string[] }>> = {
  claude: { agent: "claude", args: ["--allowedTools", "Bash(echo:*)", "Bash(sleep:*)", "Agent", "Task"] },
  gemini: { agent: "gemini", args: [] },
  codex: { agent: "codex", args: codexArguments() },
  "codex-hooks": { agent: "codex", args: codexArguments() },
  practice: { agent: "practice", args: [] },
  command: { agent: "command", args: ["sh", "-c", "exec cat > received"] },
};

function codexArguments(): readonly string[] {
  const retries = (what: string): string => `model_providers.scripted.${what}_max_retries=1`;
  return ["-c", retries("request"), "-c", retries("stream")];
}

/** On top of the home's own. */
export async function userEnvironment(
  mode: Mode,
  dir: string,
  workDir: string,
  modelUrl: string,
  path: string,
): Promise<Readonly<Record<string, string>>> {
  const options = { trust: [workDir] };
  if (mode === "practice" || mode === "command") return {};
  if (mode === "claude") {
    const { environment } = await claudeHome(dir, modelUrl, options);
    // What it keeps of background commands would stay in /tmp.
    mkdirSync(join(dir, "tmp"));
    return { ...environment, CLAUDE_CODE_MAX_RETRIES: "1", TMPDIR: join(dir, "tmp"), PATH: path };
  }
  if (mode === "gemini") {
    const { environment } = await geminiHome(dir, modelUrl, options);
    mkdirSync(join(dir, ".gemini", "policies"), { recursive: true });
    writeFileSync(join(dir, ".gemini", "policies", "echo.toml"), ECHO_IS_ALLOWED);
    return { ...environment, PATH: path };
  }
  const { environment } = await codexHome(dir, modelUrl, options);
  const rules = join(dir, ".codex", "rules");
  mkdirSync(rules, { recursive: true });
  writeFileSync(join(rules, "default.rules"), 'prefix_rule(pattern=["touch"], decision="prompt")\n');
  return { ...environment, PATH: path };
}

const ECHO_IS_ALLOWED = `[[rule]]
toolName = "run_shell_command"
commandPrefix = "echo"
decision = "allow"
priority = 500
`;
