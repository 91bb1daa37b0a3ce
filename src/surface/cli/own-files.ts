/**
 * The files of a home that Reeve wrote, by name. A home may be any directory,
 * so a file with another name belongs to somebody else and is never deleted.
 */
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Home } from "../../platform/home.ts";
import { errnoOf } from "../../platform/reeve-error.ts";

/** With what is set aside, rotated or kept beside them: reeve.db-wal, daemon.log.1, instance.corrupt-1. */
const STATE =
  /^(?:(?:reeve|search|memory)\.db|instance|daemon\.(?:lock|log|json|stderr)|capture\.(?:json|stderr)|init\.json)(?:[.-].+)?$/;
const RUN =
  /^(?:(?:reeve|tmux|capture|[0-9a-f]{12})\.sock|start\.lock|tmux\.conf|tmux-server\.json|cgroups\.json|pane\.sh|spare-\d+)(?:[.-].+)?$|\.paste$/;
/** Node's compiled code, a directory for each version. */
const COMPILED = /^v\d+\./;

/** What exists of the data: database, logs, sockets and the directories of sessions. */
export function dataOf({ stateDir, runDir, outputsDir }: Home): readonly string[] {
  return [
    ...entriesOf(stateDir, STATE),
    ...compiledIn(join(stateDir, "cache")),
    ...entriesOf(runDir, RUN),
    ...entriesOf(outputsDir, /^(?:agents|imported)$/),
  ];
}

export function compiledIn(directory: string): readonly string[] {
  return entriesOf(directory, COMPILED);
}

export function remove(paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { recursive: true, force: true });
  for (const directory of new Set(paths.map((path) => dirname(path)))) removeIfEmpty(directory);
}

/** Also what is empty only now. */
export function removeEmptyDirectories({ stateDir, runDir, outputsDir }: Home): void {
  for (const directory of [runDir, outputsDir, dirname(outputsDir), stateDir]) removeIfEmpty(directory);
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!["ENOTEMPTY", "ENOENT", "EEXIST", "EBUSY"].includes(errnoOf(error) ?? "")) throw error;
  }
}

function entriesOf(directory: string, names: RegExp): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => names.test(name))
      .map((name) => join(directory, name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
