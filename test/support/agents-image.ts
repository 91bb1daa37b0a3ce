/**
 * An image in which the real agents are found. They and Node are too large to be copied into it: what is in it are scripts
 * that run them from where a test mounts them (`AGENT_MOUNTS`), each beside a package.json that tells its version.
 */
import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DATA, machineArchive, PROGRAMS } from "./session-image.ts";

export const AGENTS_IMAGE = "reeve-test-agents:1";

const ROOT = join(import.meta.dirname, "..", "..");
const PACKAGES = join(ROOT, "test", "agent-programs", "node_modules");
const NODE = realpathSync(join(ROOT, "node_modules", "node", "bin", "node"));

/** For `reeve start`. */
export const AGENT_MOUNTS = ["--mount", `${PACKAGES}:/opt/agents:ro`, "--mount", `${join(NODE, "..")}:/opt/node:ro`];

const AGENTS = [
  { name: "codex", package: "@openai/codex", run: "/opt/agents/@openai/codex-linux-*/vendor/*/bin/codex" },
  { name: "claude", package: "@anthropic-ai/claude-code", run: "/opt/agents/@anthropic-ai/claude-code-linux-*/claude" },
  {
    name: "gemini",
    package: "@google/gemini-cli",
    run: "/opt/node/node /opt/agents/@google/gemini-cli/bundle/gemini.js",
  },
];

export function agentsImageArchive(): string {
  const claude = realpathSync(join(PACKAGES, ".bin", "claude"));
  return machineArchive("agents-image", [...PROGRAMS, "perl"], DATA, lay, [NODE, claude, import.meta.filename]);
}

function lay(root: string): void {
  mkdirSync(join(root, "usr/local/bin"), { recursive: true });
  mkdirSync(join(root, "etc"), { recursive: true });
  mkdirSync(join(root, "tmp"), { recursive: true });
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  for (const { name, package: from, run } of AGENTS) {
    const at = join("usr/local/lib", name);
    mkdirSync(join(root, at), { recursive: true });
    const { version } = JSON.parse(readFileSync(join(PACKAGES, from, "package.json"), "utf8")) as { version: string };
    writeFileSync(join(root, at, "package.json"), JSON.stringify({ name: from, version, bin: { [name]: name } }));
    writeFileSync(join(root, at, name), `#!/bin/sh\nexec ${run} "$@"\n`);
    chmodSync(join(root, at, name), 0o755);
    symlinkSync(join("..", "lib", name, name), join(root, "usr/local/bin", name));
  }
}
