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
const SHORTEST_GIVEN = 4;
/** Of what nobody gave on purpose, and of passwords inside other values. */
const SHORTEST_NAMED = 6;

/** `AUTH` but not `AUTHOR`, `KEY` but not `KEYBOARD`. */
const NAMED_LIKE_SECRETS =
  /KEY(?!BOARD|MAP|RING|TIMEOUT)|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|COOKIE|PRIVATE|AUTH(?!OR(?!I[SZ]))|(?:^|_)(?:PASS|PAT|PWD|PIN|OTP|DSN|JWT|SIGNATURE)(?:_|$)/i;
/** The shell's own. */
const NOT_SECRET = new Set(["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY"]);
/** How much, not which: `MAX_OUTPUT_TOKENS`. */
const NUMBER_OF = /TOKENS$/i;
/** Says where or how something runs; given on purpose all the same, but in every line of what it prints. */
const ORDINARY_NAMES =
  /(?:^|_)(?:PORT|HOST|HOSTNAME|HOME|USER|USERNAME|LOGNAME|SHELL|PATH|DIR|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|EDITOR|PAGER|MODEL|BRANCH|COMMIT|SHA|REGION)$|^LC_/i;
/** `/home/user/project`, `~/project`: a random value does not begin like this. */
const FILE_PATH = /^(?:~|\/(?:Users|Library|[a-z]{2,}))(?:\/|$)/;
/** Hiding them would only make everything else unreadable. */
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
  "postgres",
  "password",
  "c.utf-8",
  "en_us.utf-8",
]);

/** `scheme://user:password@host`, and `Password=…;` of connection strings. */
const URL_PASSWORD = /:\/\/([^\s/?#@:]{0,256}):([^\s/?#]{1,512})@/;
const FIELD_PASSWORD =
  /(?:^|[;,\s?&])(?:password|passwd|pwd|accountkey|sharedaccesskey|secret)\s?=\s?([^;,\s&]{1,512})/gi;

export function secretsIn(environment: Environment, given: Iterable<string>): readonly Secret[] {
  const names = new Set(given);
  const whoAndWhere = new Set(["USER", "LOGNAME", "HOME", "PWD", "HOSTNAME"].map((name) => environment[name]));
  return Object.entries(environment).flatMap(([name, value]) => {
    const isOrdinary = PLAIN_WORDS.has(value.toLowerCase()) || FILE_PATH.test(value) || whoAndWhere.has(value);
    const whole = !isOrdinary && isSecret(name, value, names) ? [{ ref: name, value }] : [];
    const parts = passwordsIn(value).map((part, index) => ({ ref: `${name}#${index + 1}`, value: part }));
    return [...whole, ...parts];
  });
}

function isSecret(name: string, value: string, given: ReadonlySet<string>): boolean {
  const isNamedLikeOne = NAMED_LIKE_SECRETS.test(name) && !(NUMBER_OF.test(name) && /^[0-9]+$/.test(value));
  if (given.has(name)) return value.length >= SHORTEST_GIVEN && (isNamedLikeOne || !ORDINARY_NAMES.test(name));
  return isNamedLikeOne && value.length >= SHORTEST_NAMED && !NOT_SECRET.has(name);
}

function passwordsIn(value: string): readonly string[] {
  const [, user, password] = URL_PASSWORD.exec(value) ?? [];
  // `app:app`: found in URLs by its place; by itself it is the user's name.
  const found = [
    password === user ? undefined : password,
    ...[...value.matchAll(FIELD_PASSWORD)].map(([, part]) => part),
  ];
  return found
    .flatMap((part) => (part === undefined ? [] : [part, decoded(part)]))
    .filter((part) => part.length >= SHORTEST_NAMED && !PLAIN_WORDS.has(part.toLowerCase()))
    .filter((part, index, all) => all.indexOf(part) === index);
}

/** As the program that reads the URL sees it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
