/**
 * Writes the archive of a session: a tar.gz with the files of its directory,
 * its events, mail and story, a report, and a manifest with the checksum of
 * each file as the last one. Everything goes through as a stream; what has no
 * size before it is made lies in a temporary file first. The archive gets its
 * name when it is whole, and never takes the place of another file.
 */
import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { createRedaction } from "../../capture/redaction.ts";
import { reportPage } from "../../capture/report/report-page.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { type TarFile, tarBytes } from "../../platform/tar-writer.ts";
import { giveName, removeAbandoned, removeUnnoted, unfinishedName } from "../../platform/unfinished-file.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Session } from "../../session/session.ts";
import { isEnded } from "../../session/session.ts";
import {
  findFiles,
  type Found,
  openAsItIs,
  openWithOlder,
  transcriptWithoutSecrets,
  withoutOlder,
  withoutSecrets,
} from "./archive-content.ts";
import * as format from "./archive-format.ts";
import { readFrames } from "./cast-frames.ts";
import type { Story } from "./read-story.ts";

export interface ArchiveParts {
  readonly session: Session;
  readonly files: Pick<SessionFiles, "readNewLines" | "stat">;
  readonly secrets: readonly string[];
  readonly story: Story;
  /** As the API shows them. */
  readonly view: object;
  readonly events: readonly object[];
  readonly mails: readonly object[];
  readonly reeveVersion: string;
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface Written {
  readonly bytes: number;
  readonly manifest: format.Manifest;
}

/**
 * `note` is told when the archive has its name. Until it has resolved, the
 * archive has a second one beside it: so one of which nobody was told, because
 * the daemon was killed, is known as such, and written anew.
 */
export async function writeArchive(
  path: string,
  parts: ArchiveParts,
  note: (written: Written) => Promise<void> = async () => undefined,
): Promise<Written> {
  await removeUnnoted(path);
  if (existsSync(path)) throw exists(path);
  const archive = unfinishedName(path, "part");
  const staged = unfinishedName(path, "stage");
  const contents = createContents(parts, staged);
  try {
    await removeAbandoned(path);
    await pipeline(
      Readable.from(tarBytes(contents.files())),
      createGzip(),
      createWriteStream(archive, { flags: "wx", mode: 0o600, flush: true }),
      { signal: parts.signal },
    );
    failpoint("export.written");
    const written = { bytes: (await stat(archive)).size, manifest: contents.manifest() };
    if (!(await giveName(archive, path))) throw exists(path);
    failpoint("export.named");
    await note(written).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    failpoint("export.noted");
    return written;
  } catch (error) {
    throw error instanceof ReeveError ? error : cannotWrite(path, error);
  } finally {
    await rm(archive, { force: true });
    await rm(staged, { force: true });
  }
}

interface Contents {
  files(): AsyncGenerator<TarFile, void, void>;
  manifest(): format.Manifest;
}

function createContents(parts: ArchiveParts, staged: string): Contents {
  const { session, story, now } = parts;
  const { identity } = session;
  const written: format.ArchivedFile[] = [];
  const leftOut = [...story.gaps];
  const atSeconds = now / 1_000;

  /** Takes note of what goes by. */
  function noted(file: TarFile): TarFile {
    const digest = createHash("sha256");
    const content = (async function* (): AsyncGenerator<Uint8Array, void, void> {
      for await (const bytes of file.content) {
        digest.update(bytes);
        yield bytes;
      }
      written.push({ path: file.path, bytes: file.size, sha256: digest.digest("hex") });
    })();
    return { ...file, path: `${session.id}/${file.path}`, content };
  }

  /** By way of the temporary file, since its size must be known first. */
  async function sized(path: string, modifiedAt: number, content: AsyncIterable<Uint8Array>): Promise<TarFile> {
    await rm(staged, { force: true });
    await pipeline(Readable.from(content), createWriteStream(staged, { flags: "wx", mode: 0o600 }), {
      signal: parts.signal,
    });
    const opened = openAsItIs(staged);
    if (opened === null) throw new Error("a temporary file is gone");
    return noted({ path, size: opened.size, modifiedAt, content: opened.read() });
  }

  async function* filesOf({ path, kind }: Found): AsyncGenerator<TarFile, void, void> {
    const name = `${format.FILES}/${path}`;
    if (kind === "transcript") {
      const file = await transcript(name, join(identity.outputsDir, path));
      if (file !== null) yield file;
      return;
    }
    const opened = openWithOlder(join(identity.outputsDir, path));
    try {
      for (const { suffix, file } of opened) {
        const { size, modifiedAt } = file;
        yield kind === "own"
          ? noted({ path: `${name}${suffix}`, size, modifiedAt, content: file.read() })
          : await sized(`${name}${suffix}`, modifiedAt, withoutSecrets(file, parts.secrets));
      }
    } finally {
      for (const { file } of opened) file.close();
    }
  }

  async function transcript(name: string, from: string): Promise<TarFile | null> {
    const about = await parts.files.stat(from).catch(() => null);
    if (about?.isFile !== true) {
      leftOut.push(`${name}: there is no such file any more.`);
      return null;
    }
    let skipped = 0;
    const lines = transcriptWithoutSecrets(
      parts.files,
      from,
      createRedaction(parts.secrets).text,
      (count) => (skipped += count),
    );
    const file = await sized(name, about.modifiedAt / 1_000, lines);
    if (skipped > 0) leftOut.push(`${name}: ${skipped} lines of it are longer than an archive takes.`);
    return file;
  }

  const text = (path: string, pieces: Iterable<string>): Promise<TarFile> =>
    sized(
      path,
      atSeconds,
      (async function* () {
        for (const piece of pieces) yield Buffer.from(piece);
      })(),
    );
  const lines = (path: string, values: readonly object[]): Promise<TarFile> =>
    text(
      path,
      (function* () {
        for (const value of values) yield `${JSON.stringify(value)}\n`;
      })(),
    );

  function manifest(): format.Manifest {
    return {
      format: "reeve-session",
      version: format.ARCHIVE_VERSION,
      reeve_version: parts.reeveVersion,
      session_id: session.id,
      name: identity.name,
      agent: identity.agent,
      role: identity.role,
      living: !isEnded(session),
      exported_at: new Date(now).toISOString(),
      files: written.map((file) => ({ ...file })),
      left_out: leftOut,
    };
  }

  return {
    manifest,
    async *files() {
      const found = await findFiles(identity.outputsDir, leftOut);
      for (const one of withoutOlder(found)) {
        yield* filesOf(one);
        failpoint("export.begun");
      }
      const native = transcriptOf(session);
      if (native !== null && !found.some(({ kind }) => kind === "transcript")) {
        const file = await transcript(`${format.FILES}/transcript.jsonl`, native);
        if (file !== null) yield file;
      }
      yield await text(format.SESSION, [`${JSON.stringify(parts.view, null, 2)}\n`]);
      yield await lines(format.EVENTS, parts.events);
      yield await lines(format.MAIL, parts.mails);
      yield await lines(format.STORY, story.entries);
      const frames = await readFrames(identity.outputsDir, leftOut);
      const report = {
        title: `Session ${identity.name}`,
        facts: factsOf(manifest()),
        entries: story.entries,
        frames,
        gaps: leftOut,
      };
      yield await text(format.REPORT, reportPage(report));
      const last = Buffer.from(`${JSON.stringify(manifest(), null, 2)}\n`);
      yield {
        path: `${session.id}/${format.MANIFEST}`,
        size: last.length,
        modifiedAt: atSeconds,
        content: (async function* () {
          yield last;
        })(),
      };
    },
  };
}

/** What a report says at its top. */
export function factsOf(manifest: format.Manifest): readonly (readonly [string, string])[] {
  return [
    ["session", `${manifest.name} (${manifest.session_id})`],
    ["agent", manifest.agent],
    ["role", manifest.role],
    ["exported", `${manifest.exported_at}${manifest.living ? ", while it was not ended" : ""}`],
    ["by", `Reeve ${manifest.reeve_version}`],
  ];
}

function transcriptOf({ watch }: Session): string | null {
  return watch.observability.transcriptPath;
}

function exists(path: string): ReeveError {
  return new ReeveError({
    code: "file-exists",
    kind: "conflict",
    message: `${path} exists already and is not overwritten; give another file with --output.`,
  });
}

function cannotWrite(path: string, error: unknown): ReeveError {
  return new ReeveError({
    code: "cannot-export",
    kind: "conflict",
    message: `The archive ${path} could not be written (${messageOf(error)}); nothing of it is left. Free some room or give another file with --output.`,
  });
}
