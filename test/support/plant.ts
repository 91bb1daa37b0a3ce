/** Things that are no plain file, put where one belongs. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export const KINDS = ["directory", "full directory", "pipe", "socket", "link", "dangling link", "device"] as const;
export type Kind = (typeof KINDS)[number];

/** Only root can make a device. */
export const plantable: readonly Kind[] = process.getuid?.() === 0 ? KINDS : KINDS.filter((kind) => kind !== "device");

const LISTEN = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";

/** Made beside its place and moved there at once: a daemon that watches may write the file, or move it aside, at any moment. */
export function plant(path: string, kind: Kind): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.planted`;
  make(made, kind);
  for (;;) {
    rmSync(path, { force: true, recursive: true });
    try {
      return renameSync(made, path);
    } catch (error) {
      // A directory does not replace a file that was written again meanwhile.
      if (!["ENOTDIR", "EISDIR", "ENOTEMPTY", "EEXIST"].includes(String((error as NodeJS.ErrnoException).code)))
        throw error;
    }
  }
}

function make(path: string, kind: Kind): void {
  switch (kind) {
    case "directory":
      return mkdirSync(path);
    case "full directory":
      mkdirSync(path);
      return writeFileSync(join(path, "file"), "");
    case "pipe":
      return void execFileSync("mkfifo", [path]);
    case "socket":
      // Killed, so that the socket stays; from its directory, since a socket's path is short.
      return void spawnSync(process.execPath, ["-e", LISTEN, basename(path)], { cwd: dirname(path) });
    case "link":
      return symlinkSync("/etc/hostname", path);
    case "dangling link":
      return symlinkSync("/nonexistent/file", path);
    case "device":
      return void execFileSync("mknod", [path, "c", "1", "7"]); // /dev/full
  }
}
