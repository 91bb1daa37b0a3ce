/**
 * The home directory of a session in a container: below the session's own
 * directory, so that it outlives the container, has the same path on both
 * sides, and holds nothing of other sessions. What the agent needs of the
 * user's own files is put there: settings that it only reads are mounted
 * read-only, its log-in is mounted or kept in step (attention/login-watch.ts) so
 * that a renewal reaches everybody, and what it writes itself is copied once
 * (decision 66).
 */
import { join } from "node:path";
import type { Agent, HomePart, PlannedFile } from "../../agent/contract.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Mount } from "../../session/container.ts";
import { homeDirOf } from "../../session/session-directory.ts";
import type { Launch } from "../../session/session.ts";

export interface HomeInside {
  readonly mounts: readonly Mount[];
  /** What was not copied there yet. */
  readonly files: readonly PlannedFile[];
  /** Where a file lies on this machine that the session has at this path. */
  outside(path: string): string;
}

export const NO_HOME: HomeInside = { mounts: [], files: [], outside: (path) => path };

const LARGEST_COPY_BYTES = 4_194_304;

/** As the session sees it: its home is another, and what leads an agent to its files outside does not count. */
export function launchInside(launch: Launch, outputsDir: string, { homeParts, pathVariables }: Homely): Launch {
  if (launch.container === null || homeParts === undefined) return launch;
  const kept = Object.entries(launch.paths).filter(([name]) => !pathVariables.includes(name));
  return { ...launch, paths: { ...Object.fromEntries(kept), HOME: homeDirOf(outputsDir) } };
}

type Homely = Pick<Agent, "homeParts" | "pathVariables">;

export async function homeInside(
  files: SessionFiles,
  launch: Launch,
  outputsDir: string,
  { homeParts }: Pick<Agent, "homeParts">,
): Promise<HomeInside> {
  if (launch.container === null || homeParts === undefined) return NO_HOME;
  const home = homeDirOf(outputsDir);
  const mounts: Mount[] = [];
  const copies: PlannedFile[] = [];
  const sources = new Map<string, string>();
  for (const part of homeParts(launch)) {
    if ((await files.stat(part.source)) === null) continue;
    const target = join(home, part.path);
    if (part.how === "copied" || part.how === "in-step") {
      const copy = await copyOf(files, part, target);
      if (copy !== null) {
        copies.push(copy);
        sources.set(target, part.source);
      }
      continue;
    }
    sources.set(target, part.source);
    mounts.push({ source: part.source, target, isReadOnly: part.how === "read-only" });
  }
  return { mounts, files: copies, outside: (path) => sources.get(path) ?? path };
}

/** Once: from then on it is the session's own, but for a log-in that was renewed outside since. */
async function copyOf(files: SessionFiles, part: HomePart, target: string): Promise<PlannedFile | null> {
  const [there, source] = await Promise.all([files.stat(target), files.stat(part.source)]);
  const isRenewed = part.how === "in-step" && (source?.modifiedAt ?? 0) > (there?.modifiedAt ?? 0);
  if (there !== null && !isRenewed) return null;
  const text = await files.read(part.source, { mostBytes: LARGEST_COPY_BYTES });
  if (text === null) return null;
  return { path: target, content: part.shorten?.(text) ?? text, isExecutable: false };
}
