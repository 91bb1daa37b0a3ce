/**
 * The directories of sessions that are removed. One is first moved to
 * `<outputs>/removed`, in one step, and then deleted there: whatever happens in
 * between, no half of a directory and no `state.json` stands in a place where
 * somebody takes it for a session (store/state-scan.ts).
 *
 * Only a directory that a session's record names is moved, only if it is a real
 * directory in its place below outputs, and no link is followed.
 */
import { lstatSync, renameSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ensurePrivateDir } from "../../platform/private-dir.ts";
import { errnoOf } from "../../platform/reeve-error.ts";
import { removeTree } from "../../platform/remove-tree.ts";

export interface SessionDirectories {
  /** Why this one cannot be removed, in a sentence; null where it can, or is not there. */
  problemWith(sessionId: string, directory: string): string | null;
  /** Synchronously: nobody writes to it in between. */
  moveAway(sessionId: string, directory: string): void;
  /** What was moved away of this session. */
  deleteMoved(sessionId: string): Promise<void>;
  /** The sessions of which something lies there. */
  moved(): Promise<ReadonlySet<string>>;
}

export function createSessionDirectories(outputsRoot: string): SessionDirectories {
  const graveyard = join(outputsRoot, "removed");

  function problemWith(sessionId: string, directory: string): string | null {
    const [agents, role = "", id, ...more] = relative(outputsRoot, directory).split(sep);
    if (agents !== "agents" || id !== sessionId || more.length > 0 || role === "" || role === "..")
      return `Its directory ${directory} is not where Reeve keeps those of sessions, ${join(outputsRoot, "agents")}.`;
    for (const path of [join(outputsRoot, agents), join(outputsRoot, agents, role), directory]) {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found === undefined) return null;
      if (!found.isDirectory()) return `${path} is not a real directory; look at it, and move it away.`;
    }
    return null;
  }

  async function entries(): Promise<readonly string[]> {
    try {
      return lstatSync(graveyard).isDirectory() ? await readdir(graveyard) : [];
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  return {
    problemWith,
    moveAway(sessionId, directory) {
      const problem = problemWith(sessionId, directory);
      if (problem !== null) throw new Error(problem);
      if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return;
      ensurePrivateDir(graveyard);
      let target = join(graveyard, sessionId);
      // Moved by a daemon that was killed, and made again by the next one.
      for (let more = 1; lstatSync(target, { throwIfNoEntry: false }) !== undefined; more += 1)
        target = join(graveyard, `${sessionId}.${more}`);
      renameSync(directory, target);
    },
    async deleteMoved(sessionId) {
      for (const name of await entries()) if (ownerOf(name) === sessionId) await removeTree(join(graveyard, name));
    },
    moved: async () => new Set((await entries()).map(ownerOf)),
  };
}

/** Ids have no dot. */
function ownerOf(name: string): string {
  return name.split(".", 1)[0] ?? name;
}
