/**
 * What `reeve init` has to remember so that --undo can give back the very bytes:
 * `init.json` beside the database, one entry for each file in which an agent's
 * command registered Reeve's MCP server:
 *
 *     { "files": { "<path>": {
 *         "before": [[0, 120], "\n"],   how it was, as pieces of how it is now
 *                                       (way-back.ts); null: there was no file
 *         "made": ["table", "directory"],   what was not there before either
 *         "sha256": "…" } } }           of the file as the agent's command left it
 *
 * A note that is lost or does not fit the file any more is no error: then only
 * Reeve's own entry is taken out.
 */
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { writeFileAtomicSync } from "../../../platform/atomic-file.ts";
import { fieldsOf, fieldsOrNull, listOf, parseFields } from "../../../platform/json-fields.ts";
import type { Fields } from "../../../platform/json-fields.ts";
import { errnoOf } from "../../../platform/reeve-error.ts";
import { wayBack, wentBack } from "./way-back.ts";
import type { Piece } from "./way-back.ts";

export type Made = "table" | "directory";

export interface InitNote {
  /** Of the file before; null where there was none. */
  readonly before: readonly Piece[] | null;
  readonly made: readonly Made[];
  readonly sha256: string;
}

export function noteOf(before: Buffer | null, after: Buffer, made: readonly Made[]): InitNote {
  return { before: before === null ? null : wayBack(before, after), made, sha256: digestOf(after) };
}

/** How the file was, if it is still as the agent's command left it: `{ bytes: null }` where there was none. */
export function originalBy(note: InitNote | null, now: Buffer | null): { readonly bytes: Buffer | null } | null {
  if (note === null || now === null || digestOf(now) !== note.sha256) return null;
  return { bytes: note.before === null ? null : wentBack(note.before, now) };
}

export function readNote(notesPath: string, file: string): InitNote | null {
  const note = fieldsOrNull(filesIn(notesPath)[file]);
  if (note === null || typeof note["sha256"] !== "string") return null;
  const { before } = note;
  if (before !== null && !(Array.isArray(before) && before.every(isPiece))) return null;
  const made = listOf(note["made"]).filter((one): one is Made => one === "table" || one === "directory");
  return { before, made, sha256: note["sha256"] };
}

/** Null: there is nothing to remember any more. */
export function writeNote(notesPath: string, file: string, note: InitNote | null): void {
  const { [file]: _, ...others } = filesIn(notesPath);
  const files = note === null ? others : { ...others, [file]: note };
  if (Object.keys(files).length === 0) return rmSync(notesPath, { force: true });
  writeFileAtomicSync(notesPath, `${JSON.stringify({ files })}\n`);
}

function filesIn(notesPath: string): Fields {
  try {
    return fieldsOf(parseFields(readFileSync(notesPath, "utf8"))?.["files"]);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return {};
    throw error;
  }
}

function isPiece(value: unknown): value is Piece {
  return typeof value === "string" || (Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger));
}

function digestOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
