/** Listens on the socket (mode 0600), and replaces one that an earlier daemon left behind. */
import { lstatSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { dirname } from "node:path";
import { setAside } from "../../platform/own-file.ts";
import { errnoOf } from "../../platform/reeve-error.ts";
import { giveUpSpare, keepSpares } from "../../platform/spare-file.ts";

export async function listen(server: Server, socketPath: string): Promise<void> {
  const directory = dirname(socketPath);
  removeSocket(socketPath);
  for (;;) {
    try {
      await bind(server, socketPath);
      break;
    } catch (error) {
      if (errnoOf(error) !== "ENOSPC" || !giveUpSpare(directory)) throw error;
    }
  }
  keepSpares(directory);
}

export function removeSocket(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSocket() === false) setAside(path);
  else rmSync(path, { force: true });
}

function bind(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    process.umask(0o177);
    server.listen(socketPath, () => {
      server.off("error", reject);
      resolve();
    });
    process.umask(0o077);
  });
}
