/** What a store is opened with. */
import type { Clock } from "../platform/clock.ts";

/** Where the store says what nobody has to act upon. */
export type Log = (message: string, fields?: object) => void;

export interface StoreOptions {
  readonly databasePath: string;
  /** Sessions live in `<outputsRoot>/agents/<role>/<id>`. */
  readonly outputsRoot: string;
  /** A copy of the instance id outside the database. */
  readonly instancePath: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the comparison of files and database waits, so that it does not compete with a start; 0 unless said. */
  readonly verifyAfterMs?: number;
  /** For a disk that is full: see reserve.ts; 2 MB unless said. */
  readonly reserveBytes?: number;
}
