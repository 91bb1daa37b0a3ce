/**
 * Learns from the files that the processes hold open which thread it is, before
 * any prompt, and where its rollout is.
 */
import { join } from "node:path";
import type { Reading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { codexHome } from "./codex-home.ts";
import { threadOfLock, threadOfRollout } from "./thread-id.ts";

export function readOpenFiles(paths: readonly string[], known: Known): Reading | null {
  const rollouts = new Map(paths.map((path) => [threadOfRollout(path), path]));
  rollouts.delete(null);
  const locks = paths.map(threadOfLock).filter((id) => id !== null);
  // Subagents have threads of their own: with more than one, only a known id decides.
  const ids = [...new Set([...rollouts.keys(), ...locks])];
  const id = known.nativeId ?? (ids.length === 1 ? ids[0] : null);
  if (id === null || id === undefined || !ids.includes(id)) return null;
  const path = rollouts.get(id);
  if (known.nativeId !== null && (path === undefined || path === known.transcriptPath)) return null;
  return {
    source: "hook",
    detail: path === undefined ? "its writer lock is open" : "its rollout is open",
    nativeId: id,
    ...(path === undefined ? {} : { transcriptPath: path }),
  };
}

/** `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`. */
export function searchRollout(
  known: Known,
): { readonly root: string; readonly depth: number; readonly suffix: string } | null {
  const home = codexHome(known.launch);
  if (home === null || known.nativeId === null) return null;
  return { root: join(home, "sessions"), depth: 4, suffix: `-${known.nativeId}.jsonl` };
}
