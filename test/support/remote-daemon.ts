/** A daemon whose only runtime is the toy on another machine: `node remote-daemon.ts`, with REEVE_HOME. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../src/daemon.ts";
import { writeDaemonRecord } from "../../src/platform/daemon-record.ts";
import { locateHome } from "../../src/platform/home.ts";
import { openLog } from "../../src/platform/log.ts";
import { ensurePrivateDir } from "../../src/platform/private-dir.ts";
import { acquireProcessLock } from "../../src/platform/process-lock.ts";
import { readProcess } from "../../src/platform/process-table.ts";
import { createTmuxRuntime } from "../../src/runtime/tmux/tmux-runtime.ts";
import { createRemoteRuntime } from "./remote-runtime.ts";

process.umask(0o077);
const home = locateHome(process.env);
ensurePrivateDir(home.stateDir);
ensurePrivateDir(home.runDir);
const far = join(home.stateDir, "far-away");
mkdirSync(far, { recursive: true, mode: 0o700 });
if (acquireProcessLock(home.lockPath) === null) throw new Error("another daemon has this home");
const log = openLog(home.logPath);
const startTicks = readProcess(process.pid)?.startTicks ?? "";
const own = { pid: process.pid, startTicks, version: "0.0.0", startedAt: Date.now(), untold: [] };
const record = writeDaemonRecord(home.recordPath, own);
const life = {
  version: "0.0.0",
  deaths: [],
  log,
  onTold: () => undefined,
  onStopped: () => record.remove(),
  onDied: (error: string) => record.died(error),
};
await run(home, life, (options) => [
  createRemoteRuntime({ inner: createTmuxRuntime(options), near: home.outputsDir, far, latencyMs: 50 }),
]);
process.stdout.write("ready\n");
