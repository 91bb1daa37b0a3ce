/**
 * Writes a tar archive (POSIX ustar, which every tar reads) as a stream of
 * bytes, file by file. The size of a file is said before its content, so
 * whoever gives the content must give exactly so much.
 */

export interface TarFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly size: number;
  /** Seconds since the epoch. */
  readonly modifiedAt: number;
  readonly content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** What eleven octal digits can say. */
export const MOST_FILE_BYTES = 8 ** 11 - 1;

export async function* tarBytes(files: AsyncIterable<TarFile>): AsyncGenerator<Uint8Array, void, void> {
  for await (const file of files) {
    yield header(file);
    let left = file.size;
    for await (const bytes of file.content) {
      left -= bytes.length;
      if (left < 0) break;
      yield bytes;
    }
    if (left !== 0) throw new Error(`${file.path} has another size than it had`);
    const over = file.size % BLOCK;
    if (over > 0) yield Buffer.alloc(BLOCK - over);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Whether a path can be said in a header: its end in 100 bytes, what is before in 155. */
export function fitsTar(path: string): boolean {
  return splitPath(path) !== null;
}

function header({ path, size, modifiedAt }: TarFile): Buffer {
  const split = splitPath(path);
  if (split === null || size > MOST_FILE_BYTES) throw new Error(`${path} does not fit into a tar archive`);
  const block = Buffer.alloc(BLOCK);
  block.write(split.name, 0, "utf8");
  block.write("0000600\0", 100, "latin1");
  block.write("0000000\0", 108, "latin1");
  block.write("0000000\0", 116, "latin1");
  block.write(octal(size), 124, "latin1");
  block.write(octal(Math.max(0, Math.floor(modifiedAt))), 136, "latin1");
  block.write("        ", 148, "latin1");
  block.write("0", 156, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  block.write(split.prefix, 345, "utf8");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function octal(value: number): string {
  return `${value.toString(8).padStart(11, "0")}\0`;
}

function splitPath(path: string): { readonly prefix: string; readonly name: string } | null {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100 && name !== "") return { prefix, name };
  }
  return null;
}
