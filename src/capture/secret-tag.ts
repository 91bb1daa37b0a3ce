/**
 * Names a secret without telling anything about it: the same secret has the
 * same tag wherever it occurs in one home, so that traffic stays readable. The
 * key is random and belongs to the home; without it nobody can try secrets.
 */
import { createHmac } from "node:crypto";

export type Tagger = (secret: string) => string;

const TAG_LENGTH = 6;

export function createTagger(key: string): Tagger {
  return (secret) => createHmac("sha256", key).update(secret).digest("hex").slice(0, TAG_LENGTH);
}
