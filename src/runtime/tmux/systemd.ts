/**
 * Whether systemd runs here and what that means for a server that should
 * outlive the login. Reads a few paths; starts and changes nothing.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, join } from "node:path";
import type { SystemdManager } from "../driver/server-config.ts";

export interface SystemdFacts {
  readonly isRunning: boolean;
  readonly hasRunCommand: boolean;
  readonly hasUserBus: boolean;
  readonly isRoot: boolean;
  readonly lingers: boolean;
}

export function chooseManager(facts: SystemdFacts): SystemdManager {
  if (!facts.isRunning || !facts.hasRunCommand) return "none";
  if (facts.isRoot) return "system";
  return facts.hasUserBus ? "user" : "none";
}

export function lingerSentence(facts: SystemdFacts): string | null {
  if (!facts.isRunning || facts.isRoot || facts.lingers) return null;
  return "Sessions end when you log out of this machine; run `loginctl enable-linger` once to let them live on.";
}

export function lingerWarning(): string | null {
  return lingerSentence(readSystemdFacts());
}

export function readSystemdFacts(environment: NodeJS.ProcessEnv = process.env): SystemdFacts {
  const { uid, username } = userInfo();
  const runtimeDirectory = environment["XDG_RUNTIME_DIR"] ?? `/run/user/${uid}`;
  return {
    isRunning: existsSync("/run/systemd/system"),
    hasRunCommand: isOnPath("systemd-run", environment["PATH"] ?? ""),
    hasUserBus: existsSync(join(runtimeDirectory, "bus")),
    isRoot: uid === 0,
    lingers: existsSync(join("/var/lib/systemd/linger", username)),
  };
}

function isOnPath(program: string, path: string): boolean {
  return path.split(delimiter).some((directory) => {
    if (directory === "") return false;
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
