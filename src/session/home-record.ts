/** What belongs to the home itself and to no session. There is one such record, with the id `home`. */
import { defineKind, type Kept } from "./record-kind.ts";

export interface HomeRecord extends Kept {
  readonly id: "home";
  /** Settings that were changed while the daemon ran, by name; they count before config.toml. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** Why nothing new is started, and since when; null: all is well. */
  readonly breaker: { readonly reason: string; readonly openedAt: number } | null;
  /** Up to which event something has read the log, by its name. */
  readonly cursors: Readonly<Record<string, number>>;
}

export const homeKind = defineKind<HomeRecord>({ name: "home", parse });

/** The next revision of the home's record; of a new home, the first. */
export function changedHome(
  before: HomeRecord | undefined,
  changes: Partial<Omit<HomeRecord, keyof Kept>>,
): HomeRecord {
  const { revision, ...fields } = before ?? { id: "home", revision: 0, settings: {}, breaker: null, cursors: {} };
  return { ...fields, ...changes, revision: revision + 1 };
}

function parse(value: unknown): HomeRecord {
  const { id, revision, settings, breaker, cursors } = value as Partial<HomeRecord>;
  const isWhole =
    id === "home" &&
    typeof revision === "number" &&
    isTable(settings) &&
    (breaker === null || (isTable(breaker) && typeof breaker.reason === "string")) &&
    isTable(cursors) &&
    Object.values(cursors).every((cursor) => Number.isSafeInteger(cursor));
  if (!isWhole) throw new Error("it does not describe a home");
  return { id, revision, settings, breaker, cursors };
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
