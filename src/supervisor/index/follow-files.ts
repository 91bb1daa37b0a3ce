/**
 * Reads on in the files of one session (its transcript, its log of calls to the
 * model) and hands what is new to the index, a small step at a time. A step
 * reads little enough that the daemon is held up for a few milliseconds at
 * most; between two steps everybody else comes first.
 */
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { LineCursor, NewLines } from "../../platform/line-cursor.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { isEnded, type Session } from "../../session/session.ts";
import type { Batch, Followed } from "../../search/contract.ts";
import type { SearchIndex } from "../../search/index-process.ts";
import { callRowOf, RAW_LOG } from "./call-rows.ts";
import type { SafeText } from "./safe-text.ts";
import { readStep } from "./transcript-step.ts";

/** Parsed, redacted and handed over in about a millisecond (median 0.75 to 1.24 ms of golden transcripts, load 10; 60 times). */
const STEP_BYTES = 16_384;
/** One that is longer is passed over: it is no message, but a picture or a file. */
const LONGEST_LINE = 1_048_576;

export interface FileParts {
  readonly index: Pick<SearchIndex, "write">;
  readonly epoch: string;
  /** What is known of the files that were read before, by `keyOf`. */
  readonly followed: Map<string, Followed>;
  readonly safeTextOf: (session: Session) => Promise<SafeText>;
  /** Nothing was heard of it for a while: what its agent wrote at the end is there. */
  readonly isQuiet: (sessionId: string) => boolean;
  /** Lets everything else go first; false: stop here. */
  readonly pause: () => Promise<boolean>;
}

export function keyOf({ sessionId, path }: Pick<Followed, "sessionId" | "path">): string {
  return `${sessionId} ${path}`;
}

/** The files that can tell something of it, now. */
export function pathsOf(session: Session): readonly string[] {
  const { transcriptPath } = session.watch.observability;
  const { launch, outputsDir } = session.identity;
  return [
    ...(transcriptPath === null ? [] : [transcriptPath]),
    ...(launch.persistence === null ? [] : [join(outputsDir, RAW_LOG)]),
  ];
}

/** False: stopped before its end. */
export async function followFiles(
  session: Session,
  agent: Agent,
  files: Pick<SessionFiles, "readNewLines">,
  parts: FileParts,
): Promise<boolean> {
  const isRaw = (path: string): boolean => path === join(session.identity.outputsDir, RAW_LOG);
  for (const path of pathsOf(session)) {
    const isRead = await followFile(session, path, parts, {
      read: (cursor, from) => files.readNewLines(from, cursor, { mostBytes: STEP_BYTES, longestLine: LONGEST_LINE }),
      rowsOf: isRaw(path) ? callsIn(session) : messagesIn(session, agent, parts),
      isRotated: isRaw(path),
    });
    if (!isRead) return false;
  }
  return true;
}

type Rows = Pick<Batch, "entries" | "usages" | "calls"> & { readonly total?: Followed["total"] };

interface FileKind {
  read(cursor: LineCursor | null, from: string): Promise<NewLines>;
  rowsOf(lines: NewLines["lines"], total: Followed["total"]): Promise<Rows>;
  /** A full one is renamed to `<name>.1`: then the rest of it is there. */
  readonly isRotated: boolean;
}

async function followFile(session: Session, path: string, parts: FileParts, kind: FileKind): Promise<boolean> {
  const { index, epoch, followed, pause } = parts;
  const before = followed.get(keyOf({ sessionId: session.id, path }));
  // One that was ended can be started again.
  if (before?.isDone === true && isEnded(session)) return true;
  let known = { cursor: before?.cursor ?? null, total: before?.total ?? null };
  for (;;) {
    const read = await kind.read(known.cursor, path);
    const rest = read.wasReplaced && kind.isRotated ? await restOfRotated(path, known.cursor, kind) : null;
    const { lines, cursor, hasMore } = rest ?? read;
    const wasReplaced = rest === null && read.wasReplaced;
    // A rotated log goes on; a transcript that was written anew is read anew.
    const isAnew = wasReplaced && !kind.isRotated;
    const { total = known.total, ...rows } = await kind.rowsOf(lines, isAnew ? null : known.total);
    const isDone = rest === null && !hasMore && isEnded(session) && parts.isQuiet(session.id);
    const isNews = lines.length > 0 || isAnew || isDone || cursor?.offset !== known.cursor?.offset;
    known = { cursor, total };
    if (isNews) {
      const now: Followed = { sessionId: session.id, path, ...known, isDone };
      const { agent, role } = session.identity;
      await index.write({
        epoch,
        ...rows,
        followed: now,
        wasReplaced: isAnew,
        about: { [session.id]: { agent, role } },
      });
      // The cursor of the older file is not kept: had the daemon died before this, it would have been read again.
      followed.set(keyOf(now), now);
    }
    if (rest !== null && !rest.hasMore) known = { ...known, cursor: null };
    else if (rest === null && !hasMore) return true;
    if (!(await pause())) return false;
  }
}

/** Null: there is none, or nothing is left to read in it. */
async function restOfRotated(path: string, cursor: LineCursor | null, kind: FileKind): Promise<NewLines | null> {
  if (cursor === null) return null;
  const rest = await kind.read(cursor, `${path}.1`).catch(() => null);
  return rest === null || rest.wasReplaced || rest.lines.length === 0 ? null : rest;
}

function callsIn(session: Session): FileKind["rowsOf"] {
  return async (lines) => ({ entries: [], calls: lines.flatMap(({ text }) => callRowOf(session.id, text) ?? []) });
}

function messagesIn(session: Session, agent: Agent, parts: FileParts): FileKind["rowsOf"] {
  return async (lines, total) => {
    if (lines.length === 0) return { entries: [] };
    return readStep(session, agent, lines, { total, safe: await parts.safeTextOf(session) });
  };
}
