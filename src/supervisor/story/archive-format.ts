/** What an archive of a session is called inside, for whoever writes and whoever reads one (docs/spec/archive.md). */
import { fieldsOf, listIn, parseFields, textIn } from "../../platform/json-fields.ts";

/** Grows when an older Reeve could not read it any more. */
export const ARCHIVE_VERSION = 1;

export const MANIFEST = "manifest.json";
export const STORY = "story.jsonl";
export const EVENTS = "events.jsonl";
export const MAIL = "mail.jsonl";
export const SESSION = "session.json";
export const REPORT = "report.html";
/** The files of the session's directory are below it. */
export const FILES = "files";

export interface ArchivedFile {
  /** Below the one directory of the archive. */
  readonly path: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** `manifest.json`, with these names. */
export interface Manifest {
  readonly format: "reeve-session";
  readonly version: number;
  readonly reeve_version: string;
  readonly session_id: string;
  readonly name: string;
  readonly agent: string;
  readonly role: string;
  /** Whether it had not ended yet. */
  readonly living: boolean;
  readonly exported_at: string;
  /** All files but this one, in the order of the archive. */
  readonly files: readonly ArchivedFile[];
  /** What is not in it, one sentence each. */
  readonly left_out: readonly string[];
}

/** Null: it is none. One of another version is read as far as its version can be. */
export function parseManifest(text: string): Manifest | null {
  const given = parseFields(text);
  if (given === null || given["format"] !== "reeve-session" || !Number.isSafeInteger(given["version"])) return null;
  const words = ["reeve_version", "session_id", "name", "agent", "role", "exported_at"] as const;
  const texts = Object.fromEntries(words.map((name) => [name, textIn(given, name)?.slice(0, 200) ?? ""]));
  const files = listIn(given, "files").map((file) => ({
    path: textIn(file, "path") ?? "",
    bytes: Number(file["bytes"]),
    sha256: textIn(file, "sha256") ?? "",
  }));
  const leftOut = Array.isArray(given["left_out"]) ? given["left_out"].filter((one) => typeof one === "string") : [];
  return {
    format: "reeve-session",
    version: Number(given["version"]),
    ...(fieldsOf(texts) as Record<(typeof words)[number], string>),
    living: given["living"] === true,
    files,
    left_out: leftOut,
  };
}
