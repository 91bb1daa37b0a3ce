/**
 * Gives each incarnation a cgroup of its own, so that the kernel says which
 * processes belong to it and when none is left (decision 15):
 *
 *   <the tmux server's cgroup>/reeve-<home>/<session>.<incarnation>/
 *
 * The tmux server is started in a scope that systemd delegates to us, or in
 * whatever cgroup the daemon is in; if that cannot be written there is no
 * cgroup, and `why` says why. A later server may be in another cgroup while
 * sessions of the one before still live, so each `reeve-<home>` that was ever
 * used is remembered in `<runDir>/cgroups.json`, a JSON array of paths, before
 * anything is made in it.
 */
import { accessSync, constants, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type CgroupPath,
  cgroupOf,
  makeCgroup,
  isCgroup,
  moveInto,
  namesIn,
  processesIn,
  removeCgroup,
  removeIfEmpty,
} from "../../platform/cgroup.ts";
import { withDescriptor } from "../../platform/descriptors.ts";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import { parseMark, type Target } from "../contract.ts";
import { chooseManager, readSystemdFacts } from "./systemd.ts";

export interface SessionCgroups {
  /** That is the server now, by its pid. */
  meet(serverPid: number): void;
  /** For a process that is about to be started; null where none can be had. */
  make(target: Target): string | null;
  /** Where it is, or why it has none. */
  find(target: Target): CgroupPath;
  /** But those of the given places. */
  all(except?: readonly Target[]): readonly Target[];
  processesIn(target: Target): readonly number[];
  /** False where something still lives in it. */
  remove(target: Target): boolean;
  /** Why sessions have none here; null where they have. */
  impediment(): string | null;
  /** A daemon that was started from inside a session is no part of it. */
  leaveSession(): void;
}

export interface CgroupParts {
  readonly instance: string;
  readonly runDir: string;
  readonly isEnabled: boolean;
  readonly log: (message: string, fields?: object) => void;
}

export function createSessionCgroups({ instance, runDir, isEnabled, log }: CgroupParts): SessionCgroups {
  const file = join(runDir, "cgroups.json");
  const own = `reeve-${instance}`;
  let remembered: readonly string[] | null = null;
  /** The session's cgroup that this daemon could not leave. */
  let home: string | null = null;
  let server: { readonly pid: number; group: CgroupPath | null; isUsable: boolean } | null = null;

  const readRemembered = (): readonly string[] =>
    (remembered ??= readPaths(file).filter((path) => path.endsWith(`/${own}`)));

  const remember = (group: string): void => {
    if (readRemembered().includes(group)) return;
    const kept = [...readRemembered().filter(isCgroup), group];
    const fresh = `${file}.${process.pid}`;
    writeFileSync(fresh, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    renameSync(fresh, file);
    remembered = kept;
  };

  /** Beside our other sessions', never inside one, wherever the server itself was started. */
  const groupNow = (): CgroupPath => {
    const known = server?.group ?? null;
    if (known !== null) return known;
    const around = cgroupOf(server?.pid ?? "self");
    if ("why" in around) return around;
    const outside = outsideOf(around.dir, own);
    if (outside !== null && server !== null) leave(outside, server.pid);
    const group = { dir: join(outside ?? around.dir, own) };
    if (server !== null) server.group = group;
    return group;
  };

  const groups = (): readonly string[] => {
    const now = server === null ? null : groupNow();
    return [...new Set([...readRemembered(), ...(now === null || "why" in now ? [] : [now.dir])])];
  };

  const leave = (outside: string, pid: number): void => {
    try {
      moveInto(outside, pid);
    } catch (error) {
      log("one of Reeve's own processes cannot leave the cgroup of a session", { pid, why: messageOf(error) });
    }
  };

  const directoryOf = (target: Target): string | null =>
    groups()
      .map((group) => join(group, nameOf(target)))
      .find(isCgroup) ?? null;

  /** It would be killed and frozen with the session, and all other sessions with it. */
  const holdsReeve = (dir: string): boolean =>
    processesIn(dir)?.some((pid) => pid === process.pid || pid === server?.pid) === true;

  const impediment = (): string | null => {
    if (!isEnabled) return "cgroups are switched off in config.toml";
    // The scope that the next server is started in is delegated to us.
    if (server === null && chooseManager(readSystemdFacts()) !== "none") return null;
    const group = groupNow();
    if ("why" in group) return group.why;
    if (server?.isUsable === true) return null;
    const writable = isCgroup(group.dir) ? group.dir : dirname(group.dir);
    try {
      accessSync(writable, constants.W_OK);
      if (server !== null) server.isUsable = true;
      return null;
    } catch (error) {
      return `${writable} cannot be written (${errnoOf(error)})`;
    }
  };

  return {
    meet(pid) {
      if (server?.pid !== pid) server = { pid, group: null, isUsable: false };
    },
    impediment,
    make(target) {
      const group = impediment() === null ? groupNow() : null;
      if (group === null || "why" in group) return null;
      const dir = join(group.dir, nameOf(target));
      try {
        remember(group.dir);
        if (!isCgroup(group.dir)) makeCgroup(group.dir);
        makeCgroup(dir);
        return dir;
      } catch (error) {
        if (server !== null) server.isUsable = false;
        log("a session is started without a cgroup of its own", { ...target, why: messageOf(error) });
        return null;
      }
    },
    find(target) {
      const dir = directoryOf(target);
      if (dir === null) return { why: impediment() ?? "this session has none" };
      return holdsReeve(dir) ? { why: "Reeve itself runs in the session's cgroup" } : { dir };
    },
    processesIn(target) {
      const dir = directoryOf(target);
      return dir === null ? [] : (processesIn(dir) ?? []);
    },
    all(except = []) {
      const names = new Set(except.map(nameOf));
      return groups().flatMap((group) =>
        namesIn(group).flatMap((name) => {
          if (names.has(name) || (home !== null && join(group, name) === home)) return [];
          return parseMark(instance, `${instance}.${name}`) ?? [];
        }),
      );
    },
    remove(target) {
      for (const group of groups()) {
        const dir = join(group, nameOf(target));
        if (!isCgroup(dir)) continue;
        // One that Reeve could not leave stays until it is gone; nothing of the session is in it.
        if (!removeCgroup(dir) && !holdsReeve(dir)) return false;
        removeIfEmpty(group);
      }
      return true;
    },
    leaveSession() {
      const now = cgroupOf("self");
      const outside = "why" in now ? null : outsideOf(now.dir, own);
      if (outside === null) return;
      leave(outside, process.pid);
      const then = cgroupOf("self");
      if ("dir" in then && outsideOf(then.dir, own) !== null) home = then.dir;
    },
  };
}

function nameOf({ sessionId, incarnation }: Target): string {
  return `${sessionId}.${incarnation}`;
}

/** The cgroup around all of this home's sessions, of one that is inside it; null for any other. */
function outsideOf(dir: string, own: string): string | null {
  const at = `${dir}/`.indexOf(`/${own}/`);
  return at < 0 ? null : dir.slice(0, at);
}

/** A damaged file counts as none: what is in cgroups that nobody remembers is still found by its mark. */
function readPaths(file: string): readonly string[] {
  let text: string;
  try {
    text = withDescriptor(() => readFileSync(file, "utf8"));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((path): path is string => typeof path === "string") : [];
  } catch {
    return [];
  }
}
