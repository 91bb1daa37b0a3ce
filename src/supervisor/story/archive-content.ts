/**
 * The files that go into an archive. Those of Reeve were written without
 * secrets and are taken as they are, up to the size they had when they were
 * opened. The transcript, the agent's debug log and whatever else lies in the
 * directory is not Reeve's: secrets are taken out on the way.
 *
 * Records of hooks, what an agent writes for capture (`spool/`, `native/`) and
 * a second name of the transcript are on their way into other files and stay out; no link is followed but the
 * one to the transcript.
 */
import { closeSync, constants, createReadStream, fstatSync, lstatSync } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { createRedactor } from "../../capture/redaction.ts";
import { openPlain } from "../../platform/plain-file.ts";
import { fitsTar } from "../../platform/tar-writer.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { allLines } from "./all-lines.ts";

/** What is of no use elsewhere, and the home of an agent in a container, which holds log-ins. */
const LEFT_OUT = new Set(["spool", "native", "agent-home", "transcript.jsonl.held", "session_oai_raw.log.open"]);
const OF_REEVE =
  /^(?:state\.json|output\.log|screen\.txt|session\.log|session_meta\.log|session_oai_raw\.log|terminal\.cast|runtime\.json)(?:\.\d+)?$/;
const TRANSCRIPT = /^(?:rollout-[\w-]+|transcript)\.jsonl$/;
/** As tar-reader.ts takes them. */
const PLAIN_PATH = /^[A-Za-z0-9._@+=-]+(?:\/[A-Za-z0-9._@+=-]+){0,5}$/;
const MOST_FILES = 5_000;

export interface Found {
  /** Below the session's directory. */
  readonly path: string;
  readonly kind: "own" | "transcript" | "other";
}

/** In order of their paths. */
export async function findFiles(directory: string, leftOut: string[]): Promise<readonly Found[]> {
  const found: Found[] = [];
  await walk(directory, "", found, leftOut);
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

async function walk(root: string, below: string, found: Found[], leftOut: string[]): Promise<void> {
  const names = await readdir(join(root, below)).catch(() => []);
  for (const name of names) {
    const path = below === "" ? name : `${below}/${name}`;
    if (below === "" && LEFT_OUT.has(name)) continue;
    const about = await lstat(join(root, path)).catch(() => null);
    const isTranscript = below === "" && TRANSCRIPT.test(name) && (await leadsToLines(join(root, path)));
    if (about === null) continue;
    if (!PLAIN_PATH.test(path) || !fitsTar(`${"x".repeat(70)}/${path}`) || found.length >= MOST_FILES)
      leftOut.push(
        `${JSON.stringify(path)}: it has a name that an archive does not take, or there are too many files.`,
      );
    else if (about.isDirectory()) await walk(root, path, found, leftOut);
    else if (about.isFile() || (isTranscript && about.isSymbolicLink()))
      found.push({ path, kind: isTranscript ? "transcript" : OF_REEVE.test(path) ? "own" : "other" });
    else leftOut.push(`${path}: it is no plain file.`);
  }
}

/** A link that an agent planted may lead anywhere: only one to a file of the kind that transcripts are is followed. */
async function leadsToLines(path: string): Promise<boolean> {
  return /\.jsonl?$/.test(await realpath(path).catch(() => ""));
}

export interface OpenFile {
  readonly size: number;
  readonly modifiedAt: number;
  /** Exactly `size` bytes, or it throws. Once. */
  read(): AsyncIterable<Buffer>;
  /** If it is not to be read after all. */
  close(): void;
}

/** Logs that are renamed when they are full: the file and the older one are opened together. */
const GROWS = /^(?:session\.log|session_meta\.log|session_oai_raw\.log|output\.log|terminal\.cast)$/;

/** Each log once, for itself and its older file: whichever of them was there when files were looked for. */
export function withoutOlder(found: readonly Found[]): readonly Found[] {
  const named = found.map((one) => {
    const path = one.path.replace(/\.1$/, "");
    return GROWS.test(path) ? { ...one, path } : one;
  });
  return [...new Map(named.map((one) => [one.path, one])).values()];
}

/**
 * With the older file of a log, which may be renamed by another process at any moment: then the one would be missing, or
 * there twice. So both are opened, and once more if the path leads to another file by then.
 */
export function openWithOlder(path: string): readonly { readonly suffix: "" | ".1"; readonly file: OpenFile }[] {
  for (let tries = 1; ; tries += 1) {
    const file = openAsItIs(path);
    const older = GROWS.test(basename(path)) ? openAsItIs(`${path}.1`) : null;
    if (tries === MOST_TRIES || (file?.inode ?? null) === inodeOf(path))
      return [
        ...(file === null ? [] : [{ suffix: "", file } as const]),
        ...(older === null ? [] : [{ suffix: ".1", file: older } as const]),
      ];
    file?.close();
    older?.close();
  }
}

/** Files are renamed every few hundred megabytes. */
const MOST_TRIES = 10;

/** Null where there is none. */
export function inodeOf(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

/** Null where there is no plain file any more. */
export function openAsItIs(
  path: string,
  links: "followed" | "refused" = "refused",
): (OpenFile & { readonly inode: number }) | null {
  let descriptor: number;
  try {
    descriptor = openPlain(path, constants.O_RDONLY | (links === "refused" ? constants.O_NOFOLLOW : 0));
  } catch {
    return null;
  }
  const { size, mtimeMs, ino } = fstatSync(descriptor);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  return {
    inode: ino,
    close,
    size,
    modifiedAt: mtimeMs / 1_000,
    async *read() {
      if (size === 0) return close();
      isOpen = false;
      yield* createReadStream("", {
        fd: descriptor,
        start: 0,
        end: size - 1,
        highWaterMark: 262_144,
      }) as AsyncIterable<Buffer>;
    },
  };
}

/** A text of any length without these secrets; what is no text is taken as it is. */
export async function* withoutSecrets(file: OpenFile, secrets: readonly string[]): AsyncGenerator<Buffer, void, void> {
  const redactor = createRedactor(secrets);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let isText: boolean | null = null;
  for await (const bytes of file.read()) {
    isText ??= !bytes.subarray(0, 8_192).includes(0);
    yield isText ? Buffer.from(redactor.push(decoder.decode(bytes, { stream: true }))) : bytes;
  }
  if (isText === true) yield Buffer.from(redactor.push(decoder.decode()) + redactor.flush());
}

const MIB = 1_048_576;

/** Line by line; a line of JSON stays one. `onSkipped`: so many were too long. */
export async function* transcriptWithoutSecrets(
  files: Pick<SessionFiles, "readNewLines">,
  path: string,
  redact: (text: string) => string,
  onSkipped: (lines: number) => void,
): AsyncGenerator<Buffer, void, void> {
  const limits = { mostBytes: 4 * MIB, longestLine: 64 * MIB };
  for await (const { lines, skippedLines } of allLines((cursor) => files.readNewLines(path, cursor, limits))) {
    if (skippedLines > 0) onSkipped(skippedLines);
    if (lines.length > 0) yield Buffer.from(lines.map(({ text }) => `${lineWithoutSecrets(text, redact)}\n`).join(""));
  }
}

/** In its texts, as they are meant: a quote or a line break in a secret is written otherwise in JSON. */
export function lineWithoutSecrets(line: string, redact: (text: string) => string): string {
  try {
    let isChanged = false;
    const cleaned: unknown = JSON.parse(line, (_, value: unknown) => {
      if (typeof value !== "string" || value.length < 3) return value;
      const text = redact(value);
      isChanged ||= text !== value;
      return text;
    });
    return isChanged ? JSON.stringify(cleaned) : line;
  } catch {
    return redact(line);
  }
}
