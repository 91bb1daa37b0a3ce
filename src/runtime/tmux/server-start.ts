/**
 * Starts our tmux server, outside the login's own scope where systemd runs.
 * The caller has made sure that none can be running under this socket.
 */
import { lstatSync } from "node:fs";
import { writeFileAtomicSync } from "../../platform/atomic-file.ts";
import { setAside } from "../../platform/own-file.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { scopedArguments, serverConfig, type ServerPaths, startArguments } from "../driver/server-config.ts";
import { chooseManager, readSystemdFacts } from "./systemd.ts";
import type { TmuxVersion } from "../driver/tmux-version.ts";
import { requireTmux, runOnce } from "./tmux-binary.ts";

export interface StartOptions {
  readonly paths: ServerPaths;
  readonly environment: Readonly<Record<string, string>>;
  readonly instance: string;
  readonly log: (message: string, fields?: object) => void;
}

/** sun_path holds 108 bytes; tmux refuses a little earlier. */
const MAX_SOCKET_BYTES = 100;

export async function requireStartable(
  paths: ServerPaths,
  environment: Readonly<Record<string, string>>,
): Promise<TmuxVersion> {
  if (Buffer.byteLength(paths.socket) > MAX_SOCKET_BYTES) throw homePathTooLong(paths.socket);
  return await requireTmux(paths.binary, environment);
}

export async function startServer({ paths, environment, instance, log }: StartOptions): Promise<void> {
  await requireStartable(paths, environment);
  inRunDirectory(() => {
    writeFileAtomicSync(paths.config, serverConfig(environment));
    const found = lstatSync(paths.socket, { throwIfNoEntry: false });
    if (found !== undefined && !found.isSocket()) setAside(paths.socket);
  });
  const argv = startArguments(paths);
  const manager = chooseManager(readSystemdFacts());
  if (manager !== "none") {
    const withBus = { ...environment, ...busVariables(process.env) };
    const unit = `reeve-tmux-${instance}-${Date.now().toString(36)}`;
    const scoped = await runOnce(scopedArguments(manager, unit, argv), withBus);
    if (scoped.isOk) return;
    log("systemd-run failed; starting tmux inside this login instead", { output: scoped.output.trim() });
  }
  const direct = await runOnce(argv, environment);
  if (direct.isOk) return;
  throw new ReeveError({
    code: "tmux-not-started",
    kind: "unavailable",
    message: `The tmux server could not be started: ${direct.output.trim().slice(0, 300) || "it gave no reason"}.`,
  });
}

/** A full or read-only disk must be said as such, not as a bare errno. */
export function inRunDirectory<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new ReeveError({
      code: "run-directory-unwritable",
      kind: "unavailable",
      message: `Reeve's run directory could not be written (${messageOf(error)}); free some disk space or fix its permissions.`,
    });
  }
}

/** systemd-run finds its manager by these; server-config.ts keeps them from sessions. */
function busVariables(ours: NodeJS.ProcessEnv): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"]) {
    const value = ours[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function homePathTooLong(socket: string): ReeveError {
  return new ReeveError({
    code: "home-path-too-long",
    kind: "config",
    message: `The path ${socket} is over ${MAX_SOCKET_BYTES} bytes, too long for a socket; choose a shorter REEVE_HOME.`,
  });
}
