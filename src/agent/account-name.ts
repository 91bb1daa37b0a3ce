/** Names of accounts: the same for the same log-in, without anything in them by which one could log in. */
import { createHash } from "node:crypto";

/** Eight digits tell the keys of one person apart, and lead to none of them. */
const DIGITS = 8;

/** "api-key 1a2b3c4d at api.openai.com" */
export function keyAccount(key: string, baseUrl: string): string {
  return `api-key ${printOf(key)} at ${hostOf(baseUrl)}`;
}

export function printOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, DIGITS);
}

/** Behind a proxy the same key may be another account: so the host belongs to the name, and nothing else of the address. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an unknown host";
}
