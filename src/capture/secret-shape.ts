/**
 * What looks like a secret whoever it belongs to: tokens with a well-known
 * beginning, JSON web tokens, private keys, and passwords in URLs. Each is
 * found by its beginning and then walked to its end, so the time is that of one
 * pass.
 */
import type { FlatText, Span } from "./flat-text.ts";

export interface Shaped {
  readonly spans: readonly Span[];
  /** From here on something may go on in the text to come. */
  readonly openFrom: number;
}

/** A beginning, and how many characters of a token follow it at least. */
const TOKENS: readonly (readonly [string, number])[] = [
  ["sk-", 20],
  ["sk_live_", 16],
  ["rk_live_", 16],
  ["ghp_", 30],
  ["gho_", 30],
  ["ghu_", 30],
  ["ghs_", 30],
  ["ghr_", 30],
  ["github_pat_", 20],
  ["glpat-", 16],
  ["xoxb-", 16],
  ["xoxp-", 16],
  ["xoxa-", 16],
  ["xoxs-", 16],
  ["AKIA", 16],
  ["ASIA", 16],
  ["AIza", 30],
  ["ya29.", 20],
  ["npm_", 30],
  ["pypi-", 30],
  ["hf_", 30],
  ["dop_v1_", 30],
  ["SG.", 30],
  ["eyJ", 30],
];
const BEGINNING = new RegExp(TOKENS.map(([text]) => text.replace(".", "\\.")).join("|"), "g");
const LONGEST_BEGINNING = Math.max(...TOKENS.map(([text]) => text.length));

const KEY_BEGIN = "-----BEGIN ";
const KEY_END = "-----END ";
/** `-----BEGIN OPENSSH PRIVATE KEY-----` and the like. */
const KEY_KIND = /^[A-Z ]{0,40}PRIVATE KEY-----/;
const LONGEST_KIND = 64;
/** A user, a password and what is between them. */
const LONGEST_CREDENTIALS = 512;

export function shapedSpans(flat: FlatText): Shaped {
  const spans: Span[] = [];
  const found = [tokens(flat, spans), keys(flat.text, spans), urls(flat, spans)];
  return { spans, openFrom: Math.min(...found) };
}

function tokens({ text, joints }: FlatText, spans: Span[]): number {
  BEGINNING.lastIndex = 0;
  let openFrom = Number.POSITIVE_INFINITY;
  for (let match = BEGINNING.exec(text); match !== null; match = BEGINNING.exec(text)) {
    const [beginning] = match;
    const start = match.index;
    if (start > 0 && isAlphanumeric(text.charCodeAt(start - 1))) continue;
    const least = TOKENS.find(([known]) => known === beginning)?.[1] ?? 0;
    const end = tokenEnd(text, joints, start + beginning.length, start + beginning.length + least);
    BEGINNING.lastIndex = end;
    if (end === text.length) openFrom = Math.min(openFrom, start);
    if (end - start - beginning.length < least) continue;
    if (beginning === "eyJ" && !isWebToken(text.slice(start, end))) continue;
    spans.push({ start, end });
  }
  return Math.min(openFrom, beginningAtEnd(text));
}

/** The text may end in the middle of a beginning. */
function beginningAtEnd(text: string): number {
  for (let length = Math.min(LONGEST_BEGINNING - 1, text.length); length > 0; length--) {
    const start = text.length - length;
    if (start > 0 && isAlphanumeric(text.charCodeAt(start - 1))) continue;
    const end = text.slice(start);
    if (TOKENS.some(([known]) => known.startsWith(end))) return start;
  }
  return Number.POSITIVE_INFINITY;
}

/** `least`: up to there it goes on wherever the line was broken; further only with what looks like more of it. */
function tokenEnd(text: string, joints: ReadonlySet<number>, from: number, least: number): number {
  let end = from;
  while (end < text.length && isTokenPart(text.charCodeAt(end))) {
    if (end >= least && joints.has(end) && !goesOnAt(text, joints, end)) break;
    end += 1;
  }
  return end;
}

/** A word at the beginning of a line has no digits, as a rule; a random token has. */
function goesOnAt(text: string, joints: ReadonlySet<number>, from: number): boolean {
  let hasDigit = false;
  let end = from;
  while (end < text.length && isTokenPart(text.charCodeAt(end)) && (end === from || !joints.has(end))) {
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
  for (let at = text.indexOf(KEY_BEGIN); at !== -1; at = text.indexOf(KEY_BEGIN, at + 1)) {
    const kind = text.slice(at + KEY_BEGIN.length, at + KEY_BEGIN.length + LONGEST_KIND);
    if (!KEY_KIND.test(kind)) {
      if (kind.length < LONGEST_KIND) return at;
      continue;
    }
    const last = text.indexOf(KEY_END, at);
    if (last === -1) {
      spans.push({ start: at, end: text.length });
      return at;
    }
    const end = text.indexOf("-----", last + KEY_END.length);
    spans.push({ start: at, end: end === -1 ? text.length : end + 5 });
    if (end === -1) return at;
    at = end;
  }
  return endsWithBeginningOf(text, KEY_BEGIN);
}

function endsWithBeginningOf(text: string, beginning: string): number {
  for (let length = Math.min(beginning.length - 1, text.length); length > 0; length--)
    if (text.endsWith(beginning.slice(0, length))) return text.length - length;
  return Number.POSITIVE_INFINITY;
}

/** Of `scheme://user:password@host` the password. */
function urls({ text, joints }: FlatText, spans: Span[]): number {
  let openFrom = Number.POSITIVE_INFINITY;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const from = at + 3;
    let colon = -1;
    let end = from;
    const most = Math.min(text.length, from + LONGEST_CREDENTIALS);
    while (end < most && !isUrlEnd(text.charCodeAt(end)) && !joints.has(end)) {
      if (colon === -1 && text[end] === ":") colon = end;
      end += 1;
    }
    if (end === text.length) openFrom = Math.min(openFrom, at);
    if (text[end] === "@" && colon !== -1 && end > colon + 1) spans.push({ start: colon + 1, end });
  }
  return Math.min(openFrom, endsWithBeginningOf(text, "://"));
}

function isUrlEnd(code: number): boolean {
  // Blanks and control characters, and " # / < > ? @
  return code <= 0x20 || "\"#/<>?@'".includes(String.fromCharCode(code));
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isTokenPart(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2d || code === 0x2e || code === 0x5f;
}
