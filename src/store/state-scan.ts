/**
 * Finds the state.json of every session and compares it with the registry. It
 * only reads and compares, and changes nothing. If a file says more than the
 * database, the caller decides what to do; that depends on whether the database
 * was lost.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../platform/reeve-error.ts";
import { amend } from "../session/amend.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import type { Session } from "../session/session.ts";
import { deepFreeze } from "./freeze.ts";
import type { SqliteRegistry } from "./registry.ts";
import { readStateFile, type StateRecord } from "./state-file.ts";

/** Enough to keep the file-system threads busy, few enough to leave them room. */
const CONCURRENCY = 4;

export type Verdict =
  | { readonly kind: "same" }
  /** Neither file nor session. */
  | { readonly kind: "missing" }
  /** Missing, or behind the database: to be written again. */
  | { readonly kind: "stale"; readonly session: Session }
  /** The database does not know the session. */
  | { readonly kind: "unknown"; readonly record: StateRecord }
  /** Its revision is higher than the database's, and it is about the same launch. */
  | { readonly kind: "ahead"; readonly record: StateRecord; readonly session: Session }
  | { readonly kind: "corrupt"; readonly why: string; readonly session: Session | undefined }
  | { readonly kind: "unreadable"; readonly why: string };

type Act = (directory: string, verdict: Verdict) => Promise<void>;

/** Judges the directory of every known session, then every other `<outputsRoot>/agents/<role>/<id>`. */
export async function scanStateFiles(outputsRoot: string, registry: SqliteRegistry, act: Act): Promise<void> {
  const seen = new Set<string>();
  const examine = async (directory: string, id: string): Promise<void> => {
    seen.add(directory);
    await act(directory, await judge(directory, id, registry));
  };
  await fewAtATime([...registry.ids()], async (id) => {
    const directory = registry.get(id)?.identity.outputsDir;
    if (directory !== undefined) await examine(directory, id);
  });
  const others = (await sessionDirectories(outputsRoot)).filter((directory) => !seen.has(directory));
  await fewAtATime(others, (directory) => examine(directory, basename(directory)));
}

async function fewAtATime(items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function judge(directory: string, id: string, registry: SqliteRegistry): Promise<Verdict> {
  const reading = await readStateFile(directory);
  const session = registry.get(id);
  switch (reading.status) {
    case "missing":
      return session ? { kind: "stale", session } : { kind: "missing" };
    case "corrupt":
      return { kind: "corrupt", why: reading.why, session };
    case "unreadable":
      return { kind: "unreadable", why: reading.why };
    case "good":
      return compare(directory, id, reading.record, session);
  }
}

/** The directory is taken from where the file lies, because a home may be moved. */
function compare(
  directory: string,
  id: string,
  { seq, session: found }: StateRecord,
  session: Session | undefined,
): Verdict {
  const role = session?.identity.role ?? basename(dirname(directory));
  if (found.id !== id || found.identity.role !== role)
    return { kind: "corrupt", why: `it describes ${found.identity.role}/${found.id}`, session };
  const here =
    found.identity.outputsDir === directory ? found : deepFreeze(amend(found, { identity: { outputsDir: directory } }));
  if (!session) return { kind: "unknown", record: { seq, session: here } };
  if (found.revision > session.revision) {
    if (identityOf(here) === identityOf(session)) return { kind: "ahead", record: { seq, session: here }, session };
    return { kind: "corrupt", why: "it contradicts the database in a field that never changes", session };
  }
  return JSON.stringify(found) === JSON.stringify(session) ? { kind: "same" } : { kind: "stale", session };
}

/** What decides which program runs where: an agent that can write its state.json must not be able to choose that. */
export function identityOf({
  id,
  identity: { role, agent, runtime, launch, parentId, outputsDir, createdAt },
}: Session): string {
  return JSON.stringify([id, role, agent, runtime, launch, parentId, outputsDir, createdAt]);
}

async function sessionDirectories(outputsRoot: string): Promise<string[]> {
  const found: string[] = [];
  for (const role of await realDirectories(join(outputsRoot, "agents"))) {
    for (const directory of await realDirectories(role)) {
      if (SESSION_ID_PATTERN.test(basename(directory))) found.push(directory);
    }
  }
  return found;
}

async function realDirectories(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
