/**
 * Starts the daemon: finds its home, takes the lock that makes it the only one
 * there, and tells the process that started it whether that worked. It also
 * records the error that this daemon dies of, and reports the error that the
 * one before it died of. The rest is loaded after that, from compiled code kept
 * in the home (saves 9 ms of 70).
 */
import { readFileSync, writeSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { forgetAllocator } from "./platform/allocator.ts";
import type { Death, OwnRecord } from "./platform/daemon-record.ts";
import { deathsIn, readDaemonRecord, writeDaemonRecord } from "./platform/daemon-record.ts";
import type { Home } from "./platform/home.ts";
import { locateHome } from "./platform/home.ts";
import { endOnUncaught, takeStderr } from "./platform/last-words.ts";
import type { Log } from "./platform/log.ts";
import { openLog } from "./platform/log.ts";
import { ensurePrivateDir } from "./platform/private-dir.ts";
import { acquireProcessLock } from "./platform/process-lock.ts";
import { readProcess } from "./platform/process-table.ts";
import { messageOf, ReeveError } from "./platform/reeve-error.ts";

/** Whoever started it has had an answer, and most of what a start runs is compiled. */
const KEEP_CODE_AFTER_MS = 1_500;

let record: OwnRecord | null = null;

async function main(): Promise<void> {
  process.umask(0o077);
  forgetAllocator(process.env);
  const home = locateHome(process.env);
  ensurePrivateDir(home.stateDir);
  ensurePrivateDir(home.runDir);
  if (acquireProcessLock(home.lockPath) === null) {
    tellStarter("busy");
    throw new ReeveError({
      code: "daemon-running",
      kind: "conflict",
      message: "Another daemon is already running for this home; see reeve daemon status.",
    });
  }
  const log = openLog(home.logPath);
  const version = readVersion();
  const deaths = deathsBefore(home);
  record = recordSelf(home, version, deaths, log);
  endOnUncaught(log, (error) => record?.died(error));
  enableCompileCache(join(home.stateDir, "cache"));
  const { run } = await import("./daemon.ts");
  await run(home, {
    version,
    deaths,
    log,
    onTold: () => record?.told(),
    onStopped: () => record?.remove(),
    onDied: (error) => record?.died(error),
  });
  tellStarter("ready");
  // Node would keep it when the process exits, which one that is killed never does.
  setTimeout(flushCompileCache, KEEP_CODE_AFTER_MS).unref();
}

/** Daemons of this home that did not stop in order, and are not in the log yet. */
function deathsBefore(home: Home): readonly Death[] {
  const left = readDaemonRecord(home.recordPath);
  const said = takeStderr(home.stderrPath);
  if (left === null) return [];
  const deaths = deathsIn(left);
  return deaths.map((death, index) =>
    index === deaths.length - 1 && death.error === null && said !== "" ? { ...death, error: said } : death,
  );
}

/** Without a record the daemon works as well; only what is said about it is poorer. */
function recordSelf({ recordPath }: Home, version: string, untold: readonly Death[], log: Log): OwnRecord | null {
  try {
    const startTicks = readProcess(process.pid)?.startTicks ?? "";
    return writeDaemonRecord(recordPath, { pid: process.pid, startTicks, version, startedAt: Date.now(), untold });
  } catch (error) {
    log("daemon.json could not be written", { path: recordPath, why: error });
    return null;
  }
}

function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed && typeof parsed.version === "string"
    ? parsed.version
    : "unknown";
}

/** Whoever started this process may wait for one line on a descriptor it named. */
function tellStarter(line: string): void {
  const descriptor = starterDescriptor();
  if (descriptor === null) return;
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // It did not wait.
  }
}

function starterDescriptor(): number | null {
  const descriptor = process.env["REEVE_READY_FD"];
  return descriptor === undefined || !/^[0-9]{1,3}$/.test(descriptor) ? null : Number(descriptor);
}

main().catch((error: unknown) => {
  const known =
    error instanceof ReeveError
      ? error
      : new ReeveError({
          code: "daemon-failed",
          kind: "internal",
          message: `The daemon could not start: ${messageOf(error)}.`,
        });
  record?.withdraw();
  tellStarter(JSON.stringify({ code: known.code, kind: known.kind, message: known.message }));
  // Whoever started it has been told; otherwise this is a person's terminal or a service's journal.
  if (starterDescriptor() === null) console.error(known.message);
  process.exit(known.exitStatus);
});
