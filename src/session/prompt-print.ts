/**
 * A text by which two reports of the same prompt are recognised. Agents alter
 * blanks (tabs become blanks, ends are trimmed), and Reeve puts a zero-width
 * space in front of some texts; the rest is compared letter by letter. In
 * memory only: it is made of the prompt itself, secrets and all.
 */
import { createHash } from "node:crypto";

export function promptPrint(text: string): string {
  return createHash("sha256")
    .update(text.replaceAll(/[\s\u200b\ufeff]+/gu, ""))
    .digest("hex");
}
