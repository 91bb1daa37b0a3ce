/**
 * state.json: the record of one session as last committed, in the session's
 * directory, so that the registry can be rebuilt without the database. This
 * file owns the format and how it is read; it must never follow a link, wait on
 * a pipe or accept a file whose checksum is wrong.
 *
 * The format, one line of UTF-8 JSON ended by a newline:
 *
 *   {"format":2,"seq":S,"revision":R,"session":{…},"checksum":"H"}
 *
 *   format    2; before schema 8 it was 1, and the session without sections. A
 *             reader sets aside a format it does not know.
 *   seq       the head of the event log when this was written; a rebuilt log
 *             continues above the highest one found.
 *   revision  that of the session, repeated.
 *   session   the Session record whole, as JSON.stringify writes it. Messages
 *             are not in it.
 *   checksum  SHA-256, 64 hex digits, of all bytes before `,"checksum":`. It
 *             finds damage; it is no seal, since an agent can compute it.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../platform/atomic-file.ts";
import { readPlainFile } from "../platform/plain-file.ts";
import { errnoOf, messageOf } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { deepFreeze } from "./freeze.ts";
import { completed, isSession } from "../session/session-record.ts";

export const STATE_FILE = "state.json";
const FORMAT = 2;
/** Still read: its session is flat (session/session-record.ts). */
const EARLIER_FORMAT = 1;
const MAX_BYTES = 4 * 1024 * 1024;
/** A forged counter must not leave the real one without room to grow. */
const MAX_COUNTER = 2 ** 50;
const TEMPORARY = `.${STATE_FILE}.tmp`;
const TAIL = /,"checksum":"([0-9a-f]{64})"\}\n$/;
const TAIL_LENGTH = `,"checksum":"${"0".repeat(64)}"}\n`.length;

export interface StateRecord {
  readonly seq: number;
  readonly session: Session;
}

export type StateFileReading =
  | { readonly status: "good"; readonly record: StateRecord }
  | { readonly status: "missing" }
  | { readonly status: "corrupt"; readonly why: string }
  /** It could not be asked: says nothing about what is in it. */
  | { readonly status: "unreadable"; readonly why: string };

export function encodeState({ seq, session }: StateRecord): string {
  const head = JSON.stringify({ format: FORMAT, seq, revision: session.revision, session }).slice(0, -1);
  return `${head},"checksum":"${checksumOf(head)}"}\n`;
}

export async function writeStateFile(record: StateRecord): Promise<void> {
  const text = encodeState(record);
  if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`the record has more than ${MAX_BYTES} bytes`);
  const directory = record.session.identity.outputsDir;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(directory, STATE_FILE), text, { temporaryName: TEMPORARY });
}

export async function readStateFile(directory: string): Promise<StateFileReading> {
  let text: string | null;
  try {
    text = readPlainFile(join(directory, STATE_FILE), MAX_BYTES, "refused");
  } catch (error) {
    // Without an errno the file itself is the matter; a link that came between two looks is no file of ours either.
    const errno = errnoOf(error);
    const status = errno === undefined || errno === "ELOOP" ? "corrupt" : "unreadable";
    return { status, why: messageOf(error) };
  }
  if (text === null) return { status: "missing" };
  try {
    return decodeState(text);
  } catch (error) {
    return { status: "corrupt", why: messageOf(error) };
  }
}

/** Moves a bad file (or whatever stands in its place) aside; returns where to. */
export async function quarantineStateFile(
  directory: string,
  timestamp: number,
  as: "corrupt" | "unknown" = "corrupt",
): Promise<string> {
  const path = join(directory, STATE_FILE);
  let target = `${path}.${as}-${timestamp}`;
  for (let attempt = 1; await exists(target); attempt += 1) target = `${path}.${as}-${timestamp}-${attempt}`;
  await rename(path, target);
  return target;
}

function decodeState(text: string): StateFileReading {
  const checksum = TAIL.exec(text.slice(-TAIL_LENGTH))?.[1];
  if (checksum === undefined) return { status: "corrupt", why: "it does not end with a checksum" };
  if (checksumOf(text.slice(0, -TAIL_LENGTH)) !== checksum) return { status: "corrupt", why: "its checksum is wrong" };
  const { format, seq, revision, session: written } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (format !== FORMAT && format !== EARLIER_FORMAT)
    return { status: "corrupt", why: `its format is ${String(format)}, not ${FORMAT}` };
  if (!isCounter(seq) || !isCounter(revision))
    return { status: "corrupt", why: "its seq or revision is out of bounds" };
  const session = completed(written);
  if (!isSession(session)) return { status: "corrupt", why: "it does not describe a session" };
  if (session.revision !== revision) return { status: "corrupt", why: "its revisions disagree" };
  return { status: "good", record: deepFreeze({ seq, session }) };
}

function isCounter(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MAX_COUNTER;
}

function checksumOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
