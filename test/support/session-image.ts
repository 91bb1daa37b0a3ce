/**
 * A small image for sessions in containers, made of this machine's own programs and the libraries that they need: no
 * network, and two seconds instead of the minute that debootstrap takes. The archive is kept in node_modules/.cache, under
 * a name that changes with the programs.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const SESSION_IMAGE = "reeve-test-session:1";

const CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "reeve");

/** What the tests, and the wrapper around a session's program, run. */
export const PROGRAMS =
  "sh bash tmux awk base64 cat chmod clear cp date dd echo env false git grep head id kill ln ls mkdir mkfifo mknod mv od printf ps readlink rm rmdir sed seq setsid sleep sort stat stty tail test touch tr true uname wc yes".split(
    " ",
  );

/** What tmux needs to know of terminals, and of characters. */
export const DATA = ["/lib/terminfo", "/usr/lib/locale/C.utf8"];

/** The path of its tar archive. */
export function sessionImageArchive(): string {
  return machineArchive("session-image", PROGRAMS, DATA);
}

/**
 * The path of a tar archive of programs of this machine, with their libraries and what is in `data`. `lay` puts more into
 * a directory, which is the root of it; `more` are the files that this comes from.
 */
export function machineArchive(
  kind: string,
  commands: readonly string[],
  data: readonly string[],
  lay: (root: string) => void = () => undefined,
  more: readonly string[] = [],
): string {
  const programs = commands.flatMap(pathsOf);
  const stamp = createHash("sha256");
  for (const path of [...programs, ...more]) stamp.update(`${path} ${statSync(path).size} ${statSync(path).mtimeMs}\n`);
  const archive = join(CACHE, `${kind}-${stamp.digest("hex").slice(0, 16)}.tar`);
  if (existsSync(archive)) return archive;
  mkdirSync(CACHE, { recursive: true });
  for (const old of readdirSync(CACHE)) if (old.startsWith(`${kind}-`)) rmSync(join(CACHE, old), { force: true });
  // Links are followed: each path holds the file itself, wherever this machine keeps it.
  const members = [...programs, ...librariesOf([...programs, ...more]), ...data.filter((path) => existsSync(path))];
  const fresh = `${archive}.${process.pid}`;
  const root = mkdtempSync(join(tmpdir(), "reeve-image-"));
  try {
    execFileSync("tar", ["-h", "-c", "-f", fresh, "-C", "/", ...members.map((path) => path.slice(1))]);
    lay(root);
    if (readdirSync(root).length > 0)
      execFileSync("tar", ["-r", "-f", fresh, "--owner=0", "--group=0", "-C", root, ...readdirSync(root)]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  renameSync(fresh, archive);
  return archive;
}

/** In both directories: images differ in where they keep programs, and so do scripts. */
function pathsOf(program: string): readonly string[] {
  return [`/bin/${program}`, `/usr/bin/${program}`, `/usr/sbin/${program}`].filter((path) => existsSync(path));
}

function librariesOf(programs: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of programs)
    for (const [library] of linked(path).matchAll(/\/[^ \n]+(?= \(0x)/g)) if (existsSync(library)) found.add(library);
  return [...found];
}

/** A script has none. */
function linked(path: string): string {
  try {
    return execFileSync("ldd", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}
