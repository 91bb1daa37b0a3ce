/** For tests and generated documents: what an agent is told when it plans or reads. */
import { plainLaunch } from "../session/plain-launch.ts";
import type { Launch } from "../session/session.ts";
import type { Known, LaunchContext } from "./contract.ts";

export function makeLaunch(changes: Partial<Launch> = {}): Launch {
  return plainLaunch("/w", changes);
}

/** The prompt is that of the launch, as at a first start. */
export function makeContext(changes: Partial<LaunchContext> = {}): LaunchContext {
  const launch = changes.launch ?? makeLaunch();
  return {
    sessionId: "s-1",
    launch,
    resume: null,
    prompt: launch.prompt,
    sessionDir: "/h/s-1",
    spoolDir: "/h/s-1/spool",
    socketDir: "/h/run",
    program: null,
    settings: {},
    mcp: null,
    capture: null,
    read: () => null,
    ...changes,
  };
}

export function makeKnown(changes: Partial<Known> = {}): Known {
  return {
    nativeId: null,
    transcriptPath: null,
    version: null,
    launch: makeLaunch(),
    activity: "idle",
    turnOpen: false,
    lastVerdict: null,
    approvals: [],
    background: [],
    ...changes,
  };
}
