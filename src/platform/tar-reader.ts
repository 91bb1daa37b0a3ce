/**
 * Reads a tar archive that may come from anybody, as a stream. It knows plain
 * files and directories and nothing else: a link, a device, a path that leads
 * elsewhere, a name twice, a wrong checksum or an archive that ends too early
 * is refused. Nothing is held in memory but the block at hand.
 */

export interface TarEntry {
  readonly path: string;
  readonly size: number;
  /** To be read before the next entry is asked for. */
  readonly content: AsyncIterable<Buffer>;
}

/** What is wrong with an archive, as the end of a sentence. */
export class BadArchive extends Error {}

const BLOCK = 512;

export async function* tarEntries(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, void> {
  const source = chunksOf(bytes);
  for (;;) {
    const head = await source.exactly(BLOCK);
    if (head.every((byte) => byte === 0)) return await source.onlyZeros();
    const { path, size, isDirectory } = parseHeader(head);
    if (isDirectory) continue;
    let left = size;
    const content = (async function* (): AsyncGenerator<Buffer, void, void> {
      while (left > 0) {
        const part = await source.upTo(left);
        left -= part.length;
        yield part;
      }
    })();
    yield { path, size, content };
    for await (const _ of content);
    await source.exactly((BLOCK - (size % BLOCK)) % BLOCK);
  }
}

function parseHeader(head: Buffer): { readonly path: string; readonly size: number; readonly isDirectory: boolean } {
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (numberAt(head, 148, 8) !== sum) throw new BadArchive("it is damaged: a header has another checksum");
  const type = String.fromCharCode(head[156] ?? 0);
  const prefix = head.toString("latin1", 257, 262) === "ustar" ? textAt(head, 345, 155) : "";
  const path = prefix === "" ? textAt(head, 0, 100) : `${prefix}/${textAt(head, 0, 100)}`;
  const isDirectory = type === "5";
  requireInside(isDirectory ? path.replace(/\/$/, "") : path);
  if (!isDirectory && type !== "0" && type !== "\0")
    throw new BadArchive(`${JSON.stringify(path)} in it is no plain file`);
  const size = numberAt(head, 124, 12);
  if (size < 0 || (isDirectory && size > 0)) throw new BadArchive("it is damaged: a header has no size");
  return { path, size, isDirectory };
}

/** Of letters that mean nothing to any file system, and going nowhere else. */
function requireInside(path: string): void {
  const parts = path.split("/");
  const isPlain = /^[A-Za-z0-9._@+=-]+(?:\/[A-Za-z0-9._@+=-]+)*$/.test(path);
  if (!isPlain || parts.some((part) => part === "." || part === "..") || parts.length > 8)
    throw new BadArchive(`it has a file with the path ${JSON.stringify(path)}, which Reeve does not write`);
}

function textAt(head: Buffer, from: number, length: number): string {
  const field = head.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
}

function numberAt(head: Buffer, from: number, length: number): number {
  const digits = head
    .toString("latin1", from, from + length)
    .replace(/[\0 ]+$/, "")
    .trimStart();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : -1;
}

interface Chunks {
  exactly(bytes: number): Promise<Buffer>;
  /** Some of them, at least one. */
  upTo(bytes: number): Promise<Buffer>;
  /** Up to the end, so that whoever unpacks the bytes has checked them all. */
  onlyZeros(): Promise<void>;
}

function chunksOf(bytes: AsyncIterable<Uint8Array>): Chunks {
  const iterator = bytes[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function next(): Promise<boolean> {
    const { done, value } = await iterator.next();
    if (done !== true) rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return done !== true;
  }
  async function upTo(most: number): Promise<Buffer> {
    while (rest.length === 0) if (!(await next())) throw new BadArchive("it ends too early");
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  }
  return {
    upTo,
    async onlyZeros() {
      do if (rest.some((byte) => byte !== 0)) throw new BadArchive("something follows its end");
      while (await next());
    },
    async exactly(wanted) {
      const parts: Buffer[] = [];
      for (let left = wanted; left > 0;) {
        const part = await upTo(left);
        parts.push(part);
        left -= part.length;
      }
      return Buffer.concat(parts);
    },
  };
}
