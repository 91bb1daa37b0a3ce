/** Things that are no plain file, put where one belongs. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export const KINDS = ["directory", "full directory", "pipe", "socket", "link", "dangling link", "device"] as const;
export type Kind = (typeof KINDS)[number];

/** Only root can make a device. */
export const plantable: readonly Kind[] = process.getuid?.() === 0 ? KINDS : KINDS.filter((kind) => kind !== "device");

const LISTEN = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";

export function plant(path: string, kind: Kind): void {
  rmSync(path, { force: true, recursive: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  switch (kind) {
    case "directory":
      return mkdirSync(path);
    case "full directory":
      // At once with what is in it: a daemon that watches may move it aside at any moment.
      mkdirSync(`${path}.planted`);
      writeFileSync(join(`${path}.planted`, "file"), "");
      return renameSync(`${path}.planted`, path);
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
