/** A start that asks for nothing but a directory to work in. */
import type { Launch } from "./session.ts";

export function plainLaunch(cwd: string, changes: Partial<Launch> = {}): Launch {
  return {
    args: [],
    prompt: null,
    model: null,
    cwd,
    envFile: null,
    envNames: [],
    keyFiles: {},
    persistence: null,
    container: null,
    mcp: true,
    paths: {},
    ...changes,
  };
}
