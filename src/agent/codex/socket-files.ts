/**
 * What Codex's app-server makes for a socket that it is told to listen on
 * (0.166.0, by strace): the socket itself and a lock in `/tmp/codex-daemon-<uid>`,
 * whatever TMPDIR says, both named after the SHA-256 of the path, and a link to
 * it at the path. It removes all three when it is asked to end, not when it is
 * killed.
 */
import { createHash } from "node:crypto";

export function socketFiles(socket: string): readonly string[] {
  const name = createHash("sha256").update(socket).digest("hex");
  const real = `/tmp/codex-daemon-${process.getuid?.()}/${name}`;
  return [real, `${real}.lock`, socket];
}
