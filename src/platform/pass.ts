/**
 * A session's pass: the secret by which whoever runs in it proves to the
 * daemon which session is calling. 32 random bytes, made for each process that
 * is started; the daemon's records hold only the hash.
 */
import { createHash, randomBytes } from "node:crypto";

/** Where a session finds its pass. Not called a token or a key: agents hide variables with such names from their tools. */
export const PASS_VARIABLE = "REEVE_PASS";
/** The socket that takes nobody without a pass. */
export const SOCKET_VARIABLE = "REEVE_SOCKET";

export function newPass(): string {
  return randomBytes(32).toString("base64url");
}

export function hashOfPass(pass: string): string {
  return createHash("sha256").update(pass).digest("base64url");
}
