/**
 * Sessions from elsewhere, to be looked at: `<outputs>/imported/<import id>/`.
 * None of them is a session of this home: they are in no record, have no
 * process, and are only ever read. An import appears under its name when it is
 * whole; what an interrupted one left begins with a dot and goes with the next.
 */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reportPage } from "../../capture/report/report-page.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { importIdOf } from "../../platform/ids.ts";
import { parseFields, textIn } from "../../platform/json-fields.ts";
import { readNewLines } from "../../platform/line-cursor.ts";
import { ensurePrivateDir } from "../../platform/private-dir.ts";
import { errnoOf, messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { removeTree, treeBytes } from "../../platform/remove-tree.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { BadArchive } from "../../platform/tar-reader.ts";
import { inOneLine, type StoryEntry } from "../../session/story/entry.ts";
import { parseEntry } from "../../session/story/parse-entry.ts";
import { allLines } from "./all-lines.ts";
import { type Manifest, parseManifest, REPORT, STORY } from "./archive-format.ts";
import { readFrames } from "./cast-frames.ts";
import type { Story } from "./read-story.ts";
import { LIMITS, unpackArchive, type UnpackLimits } from "./unpack-archive.ts";
import { factsOf } from "./write-archive.ts";

export interface Imported {
  readonly id: string;
  readonly importedAt: string;
  readonly manifest: Manifest;
  readonly directory: string;
  readonly report: string;
  readonly bytes: number;
}

/** What says of a directory that it is one of these. */
const CARD = "import.json";
/** By this daemon, the only one of its home. By their directories. */
const underWay = new Map<string, Promise<Imported>>();
const ID = /^import-[a-z0-9]{10}$/;

export function importsIn(outputsDir: string): string {
  return join(outputsDir, "imported");
}

export interface ImportRequest {
  readonly path: string;
  readonly outputsDir: string;
  readonly now: number;
  /** The same for a request that is repeated, which gets what the first one imported; null: it is not repeated. */
  readonly key: string | null;
  readonly limits?: UnpackLimits;
}

export async function importArchive(request: ImportRequest): Promise<Imported> {
  const root = importsIn(request.outputsDir);
  const id = importIdOf(request.key);
  const temporary = join(root, `.${id}`);
  const known = underWay.get(temporary);
  if (known !== undefined) return await known;
  const importing = findImport(request.outputsDir, id)
    .then((first) => first ?? takeIn(request, id, temporary))
    .finally(() => underWay.delete(temporary));
  underWay.set(temporary, importing);
  return await importing;
}

async function takeIn(
  { path, outputsDir, now, limits = LIMITS }: ImportRequest,
  id: string,
  temporary: string,
): Promise<Imported> {
  const root = importsIn(outputsDir);
  ensurePrivateDir(root);
  for (const left of await readdir(root)) {
    const isOther = left !== `.${id}` && underWay.has(join(root, left));
    if (/^\.import-\w+$/.test(left) && !isOther) await removeTree(join(root, left));
  }
  try {
    await mkdir(temporary, { mode: 0o700 });
    failpoint("import.begun");
    const manifest = await unpackArchive(path, temporary, limits);
    failpoint("import.unpacked");
    await writeReport(temporary, manifest);
    const card = { import_id: id, imported_at: new Date(now).toISOString(), manifest };
    await writeFile(join(temporary, CARD), `${JSON.stringify(card, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    failpoint("import.whole");
    await rename(temporary, join(root, id));
    failpoint("import.named");
  } catch (error) {
    await removeTree(temporary);
    throw refusal(path, error);
  }
  return await requireImport(outputsDir, id);
}

/** Where nobody has imported anything with this id, null. */
export async function findImport(outputsDir: string, id: string): Promise<Imported | null> {
  return ID.test(id) ? await importIn(join(importsIn(outputsDir), id), id) : null;
}

async function importIn(directory: string, id: string): Promise<Imported | null> {
  const card = parseFields(await readFile(join(directory, CARD), "utf8").catch(() => ""));
  const manifest = parseManifest(JSON.stringify(card?.["manifest"] ?? null));
  if (manifest === null) return null;
  const importedAt = textIn(card, "imported_at") ?? "";
  return { id, importedAt, manifest, directory, report: join(directory, REPORT), bytes: await treeBytes(directory) };
}

export async function requireImport(outputsDir: string, id: string): Promise<Imported> {
  const found = await findImport(outputsDir, id);
  if (found === null) throw unknownImport(id);
  return found;
}

function unknownImport(id: string): ReeveError {
  return new ReeveError({
    code: "unknown-import",
    kind: "not-found",
    message: `Nothing was imported as "${id}"; see reeve import --list.`,
  });
}

export async function listImports(outputsDir: string): Promise<readonly Imported[]> {
  const names = await readdir(importsIn(outputsDir)).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });
  const found = await Promise.all(names.map((name) => findImport(outputsDir, name)));
  return found.filter((one) => one !== null).toSorted((one, other) => (one.importedAt < other.importedAt ? -1 : 1));
}

/**
 * It is renamed first: half of it is never taken for the whole. Its card goes
 * last, so that a removal that a daemon began and did not end can be repeated.
 */
export async function removeImport(outputsDir: string, id: string): Promise<Imported> {
  const away = join(importsIn(outputsDir), `.${id}`);
  const whole = await findImport(outputsDir, id);
  const found = whole ?? (await importIn(away, id));
  if (found === null) throw unknownImport(id);
  if (whole !== null) {
    await removeTree(away);
    await rename(whole.directory, away);
  }
  failpoint("import-removal.begun");
  for (const name of await readdir(away)) if (name !== CARD) await removeTree(join(away, name));
  failpoint("import-removal.emptied");
  await removeTree(away);
  return found;
}

/** A story may be as long as a session was; more than this nobody reads. */
const MOST_ENTRIES = 500_000;
const MOST_BYTES = 268_435_456;

export async function readImportedStory({
  directory,
  manifest,
}: Pick<Imported, "directory" | "manifest">): Promise<Story> {
  const entries: StoryEntry[] = [];
  const gaps = manifest.left_out.map((one) => inOneLine(stripTerminal(one)));
  let strange = 0;
  let bytes = 0;
  const limits = { mostBytes: 1_048_576, longestLine: 1_048_576 };
  for await (const page of allLines((cursor) => readNewLines(join(directory, STORY), cursor, limits))) {
    strange += page.skippedLines;
    for (const { text } of page.lines) {
      const entry = parseEntry(text);
      bytes += text.length;
      if (entry === null) strange += 1;
      else if (entries.length < MOST_ENTRIES && bytes < MOST_BYTES) entries.push(entry);
    }
  }
  if (bytes >= MOST_BYTES || entries.length >= MOST_ENTRIES) gaps.push("The story is longer than what is shown.");
  if (strange > 0) gaps.push(`${strange} lines of ${STORY} cannot be understood, and are left out.`);
  return { entries, gaps };
}

async function writeReport(directory: string, manifest: Manifest): Promise<void> {
  const { entries, gaps } = await readImportedStory({ directory, manifest });
  const missing = [...gaps];
  const frames = await readFrames(join(directory, "files"), missing);
  const facts = [...factsOf(manifest), ["imported", "from an archive"] as const];
  const page = reportPage({ title: `Session ${manifest.name} (imported)`, facts, entries, frames, gaps: missing });
  await writeFile(join(directory, REPORT), page, { mode: 0o600, flag: "wx" });
}

function refusal(path: string, error: unknown): ReeveError {
  if (error instanceof BadArchive)
    return new ReeveError({
      code: "bad-archive",
      kind: "usage",
      message: `${path} cannot be imported: ${error.message}. Nothing of it was kept; get the archive again from whoever made it.`,
    });
  if (errnoOf(error) === "ENOENT")
    return new ReeveError({ code: "no-archive", kind: "usage", message: `There is no file ${path}; check its name.` });
  return new ReeveError({
    code: "cannot-import",
    kind: "conflict",
    message: `${path} cannot be imported (${messageOf(error)}); nothing of it was kept.`,
  });
}
