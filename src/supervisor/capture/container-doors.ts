/**
 * The directories by which containers reach the capture proxy: one for each
 * session, 0700, with nothing in it but the socket of its route. A container has
 * its directory mounted for as long as it lives, so that is there until the
 * session has ended; the socket in it may come and go with the proxy.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Passage } from "../../runtime/passage.ts";
import type { Session } from "../../session/session.ts";
import { wantsProxy } from "../launch/wants-proxy.ts";

const SOCKET = "s";

export interface ContainerDoors {
  /** Of the socket; null for a session that has no container, or needs no proxy. */
  path(session: Session): string | null;
  passage(session: Session, port: number): Passage | null;
  make(session: Session): void;
  remove(session: Session): void;
  /** Those of other sessions were left by a daemon that was killed. */
  keepOnly(sessions: Iterable<Session>): void;
}

export function createContainerDoors(root: string, nameOf: (sessionId: string) => string): ContainerDoors {
  const directoryOf = ({ id, identity: { launch } }: Session): string | null =>
    launch.container === null || !wantsProxy(launch) ? null : join(root, nameOf(id));

  return {
    path(session) {
      const directory = directoryOf(session);
      return directory === null ? null : join(directory, SOCKET);
    },
    passage(session, port) {
      const directory = directoryOf(session);
      return directory === null ? null : { directory, socket: SOCKET, port };
    },
    make(session) {
      const directory = directoryOf(session);
      if (directory !== null) mkdirSync(directory, { recursive: true, mode: 0o700 });
    },
    remove(session) {
      const directory = directoryOf(session);
      if (directory !== null) rmSync(directory, { recursive: true, force: true });
    },
    keepOnly(sessions) {
      const found = namesIn(root);
      if (found.length === 0) return;
      const kept = new Set([...sessions].map(({ id }) => nameOf(id)));
      for (const name of found) if (!kept.has(name)) rmSync(join(root, name), { recursive: true, force: true });
    },
  };
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // No container needed one yet.
  }
}
