/**
 * Notices that the database is older than what has happened: somebody put a
 * copy back, and its log ends before the number in the file beside it
 * (head-file.ts). It is then treated like a database that lost its newest
 * commits (recovery.ts): the sessions' own files are believed where they know
 * more, so nothing that a session was told is told again as new, and the log
 * goes on well above every number that was given out.
 *
 * Messages that waited when the copy was made may have been typed since: their
 * outcome is unknown, and they are not typed again.
 *
 * What cannot be known: which mail was read since. If the daemon was killed, and
 * the copy is from its own time, nothing tells that it was put back.
 */
import type { Clock } from "../platform/clock.ts";
import { readHeadFile } from "./head-file.ts";
import type { Tables } from "./tables.ts";

/** A forged number must not use up the room of the real ones. */
const FARTHEST = 10_000_000;

/** The last number that was given out; null: the database knows of it. */
export function seenBeyond(databasePath: string, { log }: Tables): number | null {
  const [seen, head] = [readHeadFile(databasePath), log.head()];
  return seen > head && seen <= head + FARTHEST ? seen : null;
}

/** Of sessions whose file knew more. */
export function doubtMessages({ db }: Tables, sessionIds: readonly string[], clock: Clock): void {
  const { at, boot, upMs } = clock.moment();
  const why = "An older copy of the database was put back: it may have been typed since that was made.";
  for (const id of sessionIds)
    db.run(
      "UPDATE messages SET state = 'unknown', settled_at = ?, settled_boot = ?, settled_up_ms = ?, detail = ? WHERE session_id = ? AND state IN ('admitted', 'leased')",
      at,
      boot,
      upMs,
      JSON.stringify(why),
      id,
    );
}
