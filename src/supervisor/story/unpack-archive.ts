/**
 * Unpacks an archive that may come from anybody into a directory of its own,
 * and checks it: known names only, no links, each file once, bounded in number
 * and size, what was packed against what comes out, and every checksum of its
 * manifest. Throws `BadArchive` with what is wrong; whoever called removes the
 * directory then.
 */
import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { constants, createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import { createGunzip } from "node:zlib";
import { openPlain } from "../../platform/plain-file.ts";
import { BadArchive, type TarEntry, tarEntries } from "../../platform/tar-reader.ts";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import * as format from "./archive-format.ts";

export interface UnpackLimits {
  readonly files: number;
  readonly bytes: number;
  /** So many times as much may come out as was packed, */
  readonly ratio: number;
  /** once so many bytes have come out. */
  readonly ratioFrom: number;
}

const GIB = 1_073_741_824;
export const LIMITS: UnpackLimits = { files: 10_000, bytes: 16 * GIB, ratio: 250, ratioFrom: 67_108_864 };

const MOST_MANIFEST = 16 * 1_048_576;
const ABOVE = new Set([format.MANIFEST, format.STORY, format.EVENTS, format.MAIL, format.SESSION, format.REPORT]);

export async function unpackArchive(path: string, into: string, limits: UnpackLimits): Promise<format.Manifest> {
  const packed = createReadStream("", { fd: openPlain(path, constants.O_RDONLY), highWaterMark: 65_536 });
  const unpacked = createGunzip();
  packed.on("error", (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  const bounded = (async function* (): AsyncGenerator<Uint8Array, void, void> {
    let bytes = 0;
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.bytes) throw new BadArchive(`it holds more than ${limits.bytes} bytes`);
      if (bytes > limits.ratioFrom && bytes > packed.bytesRead * limits.ratio)
        throw new BadArchive("far more comes out of it than any session writes (it is packed too tightly)");
      yield chunk;
    }
  })();
  try {
    return await unpack(bounded, into, limits);
  } catch (error) {
    throw (errnoOf(error) ?? "").startsWith("Z_")
      ? new BadArchive(`it is no tar.gz, or is damaged (${messageOf(error)})`)
      : error;
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}

async function unpack(bytes: AsyncIterable<Uint8Array>, into: string, limits: UnpackLimits): Promise<format.Manifest> {
  const found = new Map<string, format.ArchivedFile>();
  let top: string | null = null;
  let manifest: format.Manifest | null = null;
  for await (const entry of tarEntries(bytes)) {
    const [first = "", ...rest] = entry.path.split("/");
    const path = rest.join("/");
    top ??= first;
    if (first !== top) throw new BadArchive("it holds more than one session");
    if (!ABOVE.has(path) && !(rest.length > 1 && rest[0] === format.FILES))
      throw new BadArchive(`it has a file that Reeve does not write, ${JSON.stringify(path)}`);
    if (found.has(path)) throw new BadArchive(`it has ${path} twice`);
    if (found.size >= limits.files) throw new BadArchive(`it has more than ${limits.files} files`);
    if (path === format.MANIFEST) manifest = await readManifest(entry);
    else found.set(path, await unpackFile(entry, path, into));
  }
  if (manifest === null) throw new BadArchive(`it has no ${format.MANIFEST}, so it is no archive of a session`);
  requireWhole(manifest, found);
  return manifest;
}

async function readManifest({ size, content }: TarEntry): Promise<format.Manifest> {
  if (size > MOST_MANIFEST) throw new BadArchive(`its ${format.MANIFEST} is too large`);
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(Buffer.from(part));
  const manifest = format.parseManifest(Buffer.concat(parts).toString("utf8"));
  if (manifest === null) throw new BadArchive(`its ${format.MANIFEST} is not one of Reeve's`);
  if (manifest.version !== format.ARCHIVE_VERSION)
    throw new BadArchive(
      `it has version ${manifest.version} of the format, and this Reeve reads version ${format.ARCHIVE_VERSION}; use the Reeve that wrote it (${JSON.stringify(manifest.reeve_version)}) or a newer one`,
    );
  return manifest;
}

/** Its report is not kept: it is a program of somebody else's, and Reeve writes one of its own. */
async function unpackFile({ size, content }: TarEntry, path: string, into: string): Promise<format.ArchivedFile> {
  const digest = createHash("sha256");
  const target = join(into, path);
  if (path === format.REPORT) for await (const part of content) digest.update(part);
  else {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const file = await open(target, "wx", 0o600).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST" && errnoOf(error) !== "EISDIR") throw error;
      throw new BadArchive(`it has ${path} twice`);
    });
    try {
      for await (const part of content) {
        digest.update(part);
        await file.write(part);
      }
    } finally {
      await file.close();
    }
  }
  return { path, bytes: size, sha256: digest.digest("hex") };
}

function requireWhole({ files }: format.Manifest, found: ReadonlyMap<string, format.ArchivedFile>): void {
  for (const { path, bytes, sha256 } of files) {
    const file = found.get(path);
    if (file === undefined) throw new BadArchive(`${JSON.stringify(path)} is missing in it`);
    if (file.bytes !== bytes || file.sha256 !== sha256)
      throw new BadArchive(`${path} in it is not what was packed (another checksum)`);
  }
  const listed = new Set(files.map(({ path }) => path));
  const extra = [...found.keys()].find((path) => !listed.has(path));
  if (extra !== undefined) throw new BadArchive(`${extra} in it is not in its ${format.MANIFEST}`);
}
