/**
 * Recognises secrets by their form, whoever they belong to: tokens with a
 * well-known beginning, JSON web tokens, private keys, and passwords in URLs.
 * It finds the beginning of each and walks to its end, in one pass over the
 * text.
 */
import type { FlatText, Span } from "./flat-text.ts";

export interface Shaped {
  readonly spans: readonly Span[];
  /** From here on something may go on in the text to come. */
  readonly openFrom: number;
}

interface Kind {
  /** How many characters follow its beginning at least. */
  readonly least: number;
  readonly isPart: (code: number) => boolean;
  /** Without one it is a name that was made up by a person: `sk-fading-circle-animation`. */
  readonly needsDigit?: true;
  /** Its beginning is in no word, so it counts in the middle of one, too: `TOKENghp_…`. */
  readonly isDistinct?: true;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "sk-": { least: 20, isPart: isTokenPart, needsDigit: true },
  sk_live_: { least: 16, isPart: isAlphanumeric },
  rk_live_: { least: 16, isPart: isAlphanumeric },
  ghp_: { least: 30, isPart: isAlphanumeric, isDistinct: true },
  gho_: { least: 30, isPart: isAlphanumeric, isDistinct: true },
  ghu_: { least: 30, isPart: isAlphanumeric, isDistinct: true },
  ghs_: { least: 30, isPart: isAlphanumeric, isDistinct: true },
  ghr_: { least: 30, isPart: isAlphanumeric, isDistinct: true },
  github_pat_: { least: 20, isPart: isTokenPart, isDistinct: true },
  "glpat-": { least: 16, isPart: isTokenPart, isDistinct: true },
  "xoxb-": { least: 16, isPart: isTokenPart, isDistinct: true },
  "xoxp-": { least: 16, isPart: isTokenPart, isDistinct: true },
  "xoxa-": { least: 16, isPart: isTokenPart, isDistinct: true },
  "xoxs-": { least: 16, isPart: isTokenPart, isDistinct: true },
  AKIA: { least: 16, isPart: isUpperOrDigit },
  ASIA: { least: 16, isPart: isUpperOrDigit },
  AIza: { least: 30, isPart: isTokenPart },
  "ya29.": { least: 20, isPart: isTokenPart },
  npm_: { least: 30, isPart: isAlphanumeric },
  "pypi-": { least: 30, isPart: isTokenPart, needsDigit: true },
  hf_: { least: 30, isPart: isAlphanumeric },
  dop_v1_: { least: 30, isPart: isAlphanumeric, isDistinct: true },
  "SG.": { least: 30, isPart: isTokenPart, needsDigit: true },
  eyJ: { least: 30, isPart: isTokenPart },
};
const BEGINNINGS = Object.keys(KINDS);
const BEGINNING = new RegExp(BEGINNINGS.map((text) => text.replace(".", "\\.")).join("|"), "g");
const LONGEST_BEGINNING = Math.max(...BEGINNINGS.map((text) => text.length));
/** Letters that are no part of a word: `\n` as in a JSON string, the end of a colour, a percent-encoded sign. */
const ENDS_IN_CODE = /(?:\\[nrt]|\[[0-9;]{0,12}m|%[0-9A-Fa-f]{2})$/;
const LONGEST_CODE = 14;

const KEY_BEGIN = "-----BEGIN ";
const KEY_END = "-----END ";
/** `-----BEGIN OPENSSH PRIVATE KEY-----` and the like, with what says how it is encrypted. */
const KEY_HEAD =
  /^-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?:\\[nr]){0,4}Proc-Type: 4,ENCRYPTED(?:\\[nr]){0,4}DEK-Info: [\w-]{1,40},)?/;
const KEY_GAP = /[ \t|\u00a0\u2500-\u259f]{1,16}(?=[A-Za-z0-9+/=]{16}|-----END )/y;
const LONGEST_HEAD = 240;
const LEAST_KEY = 16;
/** A user, a password and what is between them. */
const LONGEST_CREDENTIALS = 512;

export function shapedSpans(flat: FlatText): Shaped {
  const spans: Span[] = [];
  const found = [tokens(flat, spans), keys(flat.text, spans), urls(flat, spans)];
  return { spans, openFrom: Math.min(...found) };
}

function tokens(flat: FlatText, spans: Span[]): number {
  const { text } = flat;
  BEGINNING.lastIndex = 0;
  let openFrom = Number.POSITIVE_INFINITY;
  /** Up to where there is none of a kind, so that nothing is walked twice for it. */
  const noneUntil = new Map<string, number>();
  for (let match = BEGINNING.exec(text); match !== null; match = BEGINNING.exec(text)) {
    const [beginning] = match;
    const start = match.index;
    const kind = KINDS[beginning];
    if (kind === undefined || start < (noneUntil.get(beginning) ?? 0) || !mayBegin(kind, flat, start)) continue;
    const from = start + beginning.length;
    const end = tokenEnd(flat, from, kind);
    if (end === text.length) openFrom = Math.min(openFrom, start);
    if (end - from >= kind.least && isToken(beginning, kind, text.slice(start, end))) {
      spans.push({ start, end });
      BEGINNING.lastIndex = end;
    } else noneUntil.set(beginning, end);
  }
  return Math.min(openFrom, beginningAtEnd(flat));
}

function isToken(beginning: string, { needsDigit }: Kind, text: string): boolean {
  return (needsDigit !== true || /[0-9]/.test(text)) && (beginning !== "eyJ" || isWebToken(text));
}

/** Not in the middle of a word; at the beginning of a line, whatever the line before it ended with. */
function mayBegin(kind: Kind, { text, joints }: FlatText, start: number): boolean {
  if (kind.isDistinct === true || start === 0 || joints.has(start)) return true;
  if (!isAlphanumeric(text.charCodeAt(start - 1))) return true;
  return ENDS_IN_CODE.test(text.slice(Math.max(0, start - LONGEST_CODE), start));
}

/** The text may end in the middle of a beginning. */
function beginningAtEnd(flat: FlatText): number {
  for (let length = Math.min(LONGEST_BEGINNING - 1, flat.text.length); length > 0; length--) {
    const start = flat.text.length - length;
    const end = flat.text.slice(start);
    const isBegun = ([beginning, kind]: [string, Kind]): boolean =>
      beginning.startsWith(end) && mayBegin(kind, flat, start);
    if (Object.entries(KINDS).some(isBegun)) return start;
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * It goes on behind a line break only where the line may have been wrapped, and
 * past its least length only with what looks like more of it: a commit on the
 * next line is no part of it.
 */
function tokenEnd(flat: FlatText, from: number, { least, isPart }: Kind): number {
  const { text, joints, wraps } = flat;
  let end = from;
  while (end < text.length && isPart(text.charCodeAt(end))) {
    if (joints.has(end) && !wraps.has(end)) break;
    if (end >= from + least && joints.has(end) && !goesOnAt(flat, end, isPart)) break;
    end += 1;
  }
  return end;
}

/** A word at the beginning of a line has no digits, as a rule; a random token has. */
function goesOnAt({ text, joints }: FlatText, from: number, isPart: Kind["isPart"]): boolean {
  let hasDigit = false;
  let end = from;
  while (end < text.length && isPart(text.charCodeAt(end)) && (end === from || !joints.has(end))) {
    hasDigit ||= text.charCodeAt(end) >= 0x30 && text.charCodeAt(end) <= 0x39;
    end += 1;
  }
  return hasDigit && end - from >= SHORTEST_REST;
}

const SHORTEST_REST = 4;

function isWebToken(text: string): boolean {
  const [header = "", payload = "", ...rest] = text.split(".");
  return header.length >= 10 && payload.length >= 10 && rest.length > 0;
}

function keys(text: string, spans: Span[]): number {
  let openFrom = endsWithBeginningOf(text, KEY_BEGIN);
  for (let at = text.indexOf(KEY_BEGIN); at !== -1; at = text.indexOf(KEY_BEGIN, at + 1)) {
    if (text.length - at < LONGEST_HEAD) openFrom = Math.min(openFrom, at);
    const head = KEY_HEAD.exec(text.slice(at, at + LONGEST_HEAD))?.[0];
    if (head === undefined) continue;
    const from = at + head.length;
    const end = keyEnd(text, from);
    const last = text.startsWith(KEY_END, end) ? text.slice(end, end + LONGEST_HEAD).indexOf("-----", 5) : -1;
    if (last !== -1) spans.push({ start: at, end: end + last + 5 });
    // A header that stands by itself is only talked about.
    else if (end - from >= LEAST_KEY || (end === text.length && end > from)) spans.push({ start: at, end });
    if (end === text.length) return Math.min(openFrom, at);
    at = end;
  }
  return openFrom;
}

/**
 * Where its letters end: between them may stand the number of a line or a
 * written `\n`, but no words. Otherwise what only mentions a key would hide all
 * that follows, the rest of a command that asks for approval too.
 */
function keyEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length) {
    if (isKeyPart(text.charCodeAt(end))) {
      end += 1;
      continue;
    }
    KEY_GAP.lastIndex = end;
    const gap = KEY_GAP.exec(text)?.[0].length ?? 0;
    if (gap === 0) break;
    end += gap;
  }
  // Its last line may be all that is still to come.
  return text.length - end < LONGEST_HEAD && /^-{1,5}(?:E|EN|END|END [A-Z ]*-{0,4})?$/.test(text.slice(end))
    ? text.length
    : end;
}

function endsWithBeginningOf(text: string, beginning: string): number {
  for (let length = Math.min(beginning.length - 1, text.length); length > 0; length--)
    if (text.endsWith(beginning.slice(0, length))) return text.length - length;
  return Number.POSITIVE_INFINITY;
}

/** Of `scheme://user:password@host` the password; it may hold an @ of its own. */
function urls({ text, joints, wraps }: FlatText, spans: Span[]): number {
  let openFrom = Number.POSITIVE_INFINITY;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const from = at + 3;
    let [colon, last, end] = [-1, -1, from];
    const most = Math.min(text.length, from + LONGEST_CREDENTIALS);
    while (end < most && !isUrlEnd(text.charCodeAt(end))) {
      if (joints.has(end) && !(wraps.has(end) && mayGoOn(text, colon, last, end))) break;
      if (text[end] === "@") last = end;
      if (colon === -1 && text[end] === ":") colon = end;
      if (last !== -1 && colon === -1) break;
      end += 1;
    }
    if (end === text.length) openFrom = Math.min(openFrom, at);
    if (colon !== -1 && last > colon + 1) spans.push({ start: colon + 1, end: last });
  }
  return Math.min(openFrom, endsWithBeginningOf(text, "://"));
}

/** On the next line: not after a host's port, and not after the host. */
function mayGoOn(text: string, colon: number, last: number, end: number): boolean {
  return last === -1 && !(colon !== -1 && /^[0-9]{1,5}$/.test(text.slice(colon + 1, end)));
}

function isUrlEnd(code: number): boolean {
  // Blanks and control characters, and what is in no user or password as it is.
  return code <= 0x20 || "\"#/<>?'`\\".includes(String.fromCharCode(code));
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isUpperOrDigit(code: number): boolean {
  return isAlphanumeric(code) && code < 0x61;
}

function isKeyPart(code: number): boolean {
  // Base64, and the backslash of a line break that is written out.
  return isAlphanumeric(code) || code === 0x2b || code === 0x2f || code === 0x3d || code === 0x5c;
}

function isTokenPart(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2d || code === 0x2e || code === 0x5f;
}
