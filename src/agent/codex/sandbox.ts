/**
 * `codex sandbox <options> -- <program>`: a program in the sandbox that Codex gives to its commands (0.166.0). Which one the
 * session has is in the newest `turn_context` line of its rollout, whatever set it: a flag, config.toml, or a person in the
 * TUI. Before the first turn the session's own arguments say it, and what they do not say is as it is for a new turn.
 */
import { type Fields, fieldsOf, listOf, parseFields, textOf } from "../../platform/json-fields.ts";
import type { SandboxContext } from "../contract.ts";
import { tomlText } from "./toml-value.ts";
import { readUserArguments } from "./user-arguments.ts";

export function sandboxCommand({ program, launch, lines }: SandboxContext): readonly string[] | null {
  const policy = newestPolicy(lines);
  const flags = policy === null ? readUserArguments(launch.args).server : flagsOf(policy);
  if (flags.some((flag) => /^sandbox_mode="?danger-full-access"?$/.test(flag))) return null;
  return [program, "sandbox", ...flags, "--"];
}

function newestPolicy(lines: readonly string[]): Fields | null {
  for (const line of lines.toReversed()) {
    if (!line.includes('"turn_context"')) continue;
    const entry = parseFields(line);
    const policy = fieldsOf(fieldsOf(entry?.["payload"])["sandbox_policy"]);
    if (entry?.["type"] === "turn_context" && textOf(policy["type"]) !== null) return policy;
  }
  return null;
}

function flagsOf(policy: Fields): readonly string[] {
  const mode = textOf(policy["type"]) ?? "";
  const roots = listOf(policy["writable_roots"]).filter((root) => typeof root === "string");
  return [
    ["sandbox_mode", tomlText(mode)],
    ...(mode === "workspace-write"
      ? [
          ["sandbox_workspace_write.network_access", String(policy["network_access"] === true)],
          ["sandbox_workspace_write.exclude_tmpdir_env_var", String(policy["exclude_tmpdir_env_var"] === true)],
          ["sandbox_workspace_write.exclude_slash_tmp", String(policy["exclude_slash_tmp"] === true)],
          ["sandbox_workspace_write.writable_roots", `[${roots.map(tomlText).join(", ")}]`],
        ]
      : []),
  ].flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}
