/** The toy on another machine, over a tmux runtime on private ground: its work directory lies elsewhere in truth. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Runtime } from "../../src/runtime/contract.ts";
import { createRemoteRuntime } from "../support/remote-runtime.ts";
import { makeTmuxFixture, type TmuxFixture } from "./tmux-fixture.ts";

export const LATENCY_MS = 50;

export interface RemoteFixture extends TmuxFixture {
  /** Nothing of the session's files is where its paths say. */
  isUntouched(): boolean;
}

export async function makeRemoteFixture(): Promise<RemoteFixture> {
  const tmux = await makeTmuxFixture();
  const near = join(dirname(tmux.workDir), "near");
  const far = tmux.workDir;
  mkdirSync(far, { recursive: true });
  const over = (inner: Runtime): Runtime => createRemoteRuntime({ inner, near, far, latencyMs: LATENCY_MS });
  return {
    ...tmux,
    runtime: over(tmux.runtime),
    workDir: near,
    reopen: () => over(tmux.reopen()),
    isUntouched: () => !existsSync(near),
  };
}
