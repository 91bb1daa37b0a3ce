/**
 * Which values of a session's environment are secret, and under which name
 * they can be found there again: all that was given on purpose (`--env`,
 * `--env-file`), what is named like a secret, and passwords inside URLs and
 * connection strings, whatever their name.
 */
import type { Environment } from "./environment.ts";

export interface Secret {
  /** The variable; `NAME#1` for the first part of its value that is secret by itself. */
  readonly ref: string;
  readonly value: string;
}

/** Shorter values are in every text by chance. */
export const SHORTEST_GIVEN = 4;
/** Of what nobody gave on purpose, and of passwords inside other values. */
const SHORTEST_NAMED = 6;

const NAMED_LIKE_SECRETS =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|COOKIE|PRIVATE|AUTH|(?:^|_)(?:PASS|PAT|PWD|DSN|JWT|SIGNATURE)(?:_|$)/i;
/** The shell's own. */
const NOT_SECRET = new Set(["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "KEYTIMEOUT"]);
/** Given on purpose all the same, but hiding them would only make everything else unreadable. */
const PLAIN_WORDS = new Set([
  "true",
  "false",
  "null",
  "none",
  "auto",
  "test",
  "info",
  "debug",
  "warn",
  "error",
  "always",
  "never",
  "production",
  "development",
  "staging",
  "localhost",
  "C.UTF-8",
  "en_US.UTF-8",
]);

/** `scheme://user:password@host`, and `Password=…;` of connection strings. */
const URL_PASSWORD = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@:]{0,256}:([^\s/?#@]{1,512})@/i;
const FIELD_PASSWORD = /(?:^|[;,\s])(?:password|passwd|pwd|accountkey|sharedaccesskey|secret)\s?=\s?([^;,\s]{1,512})/gi;

export function secretsIn(environment: Environment, given: Iterable<string>): readonly Secret[] {
  const names = new Set(given);
  return Object.entries(environment).flatMap(([name, value]) => {
    const whole = isSecret(name, value, names) ? [{ ref: name, value }] : [];
    const parts = passwordsIn(value).map((part, index) => ({ ref: `${name}#${index + 1}`, value: part }));
    return [...whole, ...parts];
  });
}

function isSecret(name: string, value: string, given: ReadonlySet<string>): boolean {
  if (PLAIN_WORDS.has(value)) return false;
  if (given.has(name)) return value.length >= SHORTEST_GIVEN;
  return value.length >= SHORTEST_NAMED && NAMED_LIKE_SECRETS.test(name) && !NOT_SECRET.has(name);
}

function passwordsIn(value: string): readonly string[] {
  const found = [URL_PASSWORD.exec(value)?.[1], ...[...value.matchAll(FIELD_PASSWORD)].map((match) => match[1])];
  return found
    .flatMap((part) => (part === undefined ? [] : [part, decoded(part)]))
    .filter((part, index, all) => part.length >= SHORTEST_NAMED && all.indexOf(part) === index);
}

/** As the program that reads the URL sees it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
