/**
 * The paths of all files of one Reeve. `REEVE_HOME` overrides all; otherwise
 * XDG: state (database, log) and sockets apart from what sessions leave behind.
 * The CLI and the daemon must agree, so only this file knows them.
 */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ReeveError } from "./reeve-error.ts";

export interface Home {
  /** Database, daemon log, instance id. */
  readonly stateDir: string;
  /** Sockets and locks: short-lived, never backed up. */
  readonly runDir: string;
  /** `<outputs>/agents/<role>/<session-id>/` is a session's directory. */
  readonly outputsDir: string;
  readonly configPath: string;
  readonly socketPath: string;
  /** For sessions, which must show a pass. */
  readonly sessionSocketPath: string;
  readonly databasePath: string;
  /** The index of `reeve search` and `reeve stats`: can be lost, and is made again. */
  readonly searchPath: string;
  /** What agents and the operator remember; made with the first memory. */
  readonly memoryPath: string;
  readonly instancePath: string;
  readonly lockPath: string;
  readonly logPath: string;
  /** Who the daemon is; see daemon-record.ts. */
  readonly recordPath: string;
  /** What Node itself says when a daemon dies of a fault that no program can catch. */
  readonly stderrPath: string;
  /** What `reeve init` changed, so that it can be taken back. */
  readonly initPath: string;
  /**
   * Of the capture proxy: where it is commanded, what is remembered of it, what Node says when it breaks, and the
   * directories through which containers reach it, one for each.
   */
  readonly capture: {
    readonly socketPath: string;
    readonly recordPath: string;
    readonly stderrPath: string;
    readonly doorsDir: string;
  };
}

export function locateHome(environment: Readonly<Record<string, string | undefined>>): Home {
  const override = environment["REEVE_HOME"];
  if (override !== undefined && override !== "") {
    const root = resolve(override);
    return layOut({
      stateDir: root,
      runDir: join(root, "run"),
      outputsDir: join(root, "outputs"),
      configPath: join(root, "config.toml"),
    });
  }
  const home = environment["HOME"] ?? homedir();
  const state = join(base(environment["XDG_STATE_HOME"], join(home, ".local", "state")), "reeve");
  const runtime = environment["XDG_RUNTIME_DIR"];
  return layOut({
    stateDir: state,
    runDir: runtime !== undefined && isAbsolute(runtime) ? join(runtime, "reeve") : join(state, "run"),
    outputsDir: join(base(environment["XDG_DATA_HOME"], join(home, ".local", "share")), "reeve", "outputs"),
    configPath: join(base(environment["XDG_CONFIG_HOME"], join(home, ".config")), "reeve", "config.toml"),
  });
}

export function sessionDir(outputsDir: string, role: string, sessionId: string): string {
  return join(outputsDir, "agents", role, sessionId);
}

function layOut(roots: Pick<Home, "stateDir" | "runDir" | "outputsDir" | "configPath">): Home {
  const socketPath = join(roots.runDir, "reeve.sock");
  // sun_path holds 108 bytes; a runtime's own socket may stand beside this one.
  if (Buffer.byteLength(socketPath) > 100) {
    throw new ReeveError({
      code: "home-path-too-long",
      kind: "config",
      message: `The path ${socketPath} is too long for a unix socket (100 bytes at most); set REEVE_HOME to a shorter directory.`,
    });
  }
  return {
    ...roots,
    socketPath,
    sessionSocketPath: join(roots.runDir, "call.sock"),
    databasePath: join(roots.stateDir, "reeve.db"),
    searchPath: join(roots.stateDir, "search.db"),
    memoryPath: join(roots.stateDir, "memory.db"),
    instancePath: join(roots.stateDir, "instance"),
    lockPath: join(roots.stateDir, "daemon.lock"),
    logPath: join(roots.stateDir, "daemon.log"),
    recordPath: join(roots.stateDir, "daemon.json"),
    stderrPath: join(roots.stateDir, "daemon.stderr"),
    initPath: join(roots.stateDir, "init.json"),
    capture: {
      socketPath: join(roots.runDir, "capture.sock"),
      recordPath: join(roots.stateDir, "capture.json"),
      stderrPath: join(roots.stateDir, "capture.stderr"),
      // Short: with a name of ten letters and a socket of one it must still fit (see above).
      doorsDir: join(roots.runDir, "box"),
    },
  };
}

/** XDG says: a path that is not absolute is to be ignored. */
function base(value: string | undefined, fallback: string): string {
  return value !== undefined && isAbsolute(value) ? value : fallback;
}
