/**
 * Takes one member out of a JSON text and leaves every other byte as it is, also
 * comments and odd gaps. Pure; of the text only its ASCII matters, so it may be
 * given as one letter for each byte.
 */
/** A comment up to the end of its line holds that end: without it, it would go on. */
const TOKEN =
  /[ \t\r\n]+|\/\/[^\r\n]*(?:\r?\n|\r)?|\/\*[^]*?\*\/|"(?:\\[^]|[^"\\])*"|[{}[\]:,]|[^ \t\r\n{}[\]:,"/]+|[^]/g;

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Null where there is no such member. Of several with one name it is the last: that one counts. */
export function withoutMember(text: string, path: readonly string[]): string | null {
  const all = [...text.matchAll(TOKEN)].map((match) => tokenOf(match[0], match.index));
  const tokens = all.filter(({ text: token }) => !/^(?:[ \t\r\n]|\/[/*])/.test(token));
  const member = memberIn(tokens, 0, path);
  if (member === null) return null;
  const { key, last, before, after } = member;
  const gapBefore = (at: number): number => all.find(({ end, text: gap }) => end === at && isGap(gap))?.start ?? at;
  const gapAfter = (at: number): number => all.find(({ start, text: gap }) => start === at && isGap(gap))?.end ?? at;
  // The gap before it is then the gap before what follows.
  if (after?.text === ",")
    return text.slice(0, key.start) + text.slice(last.end, after.start) + text.slice(gapAfter(after.end));
  if (before?.text === ",") {
    const start = gapBefore(key.start);
    return text.slice(0, before.start) + text.slice(before.end, start) + text.slice(last.end);
  }
  const isAlone = gapBefore(key.start) === before?.end && gapAfter(last.end) === after?.start;
  return text.slice(0, gapBefore(key.start)) + text.slice(isAlone ? gapAfter(last.end) : last.end);
}

interface Member {
  readonly key: Token;
  readonly last: Token;
  /** A comma, or the braces of its object. */
  readonly before: Token | undefined;
  readonly after: Token | undefined;
}

function memberIn(tokens: readonly Token[], open: number, [name, ...rest]: readonly string[]): Member | null {
  if (tokens[open]?.text !== "{") return null;
  let found: Member | null = null;
  for (let at = open + 1; at < tokens.length && tokens[at]?.text !== "}"; at += 1) {
    const key = tokens[at];
    const end = behindValue(tokens, at + 2);
    const last = tokens[end - 1];
    if (key === undefined || last === undefined || !key.text.startsWith('"')) return null;
    if (JSON.parse(key.text) === name)
      found =
        rest.length === 0 ? { key, last, before: tokens[at - 1], after: tokens[end] } : memberIn(tokens, at + 2, rest);
    at = end;
    if (tokens[at]?.text !== ",") break;
  }
  return found;
}

function behindValue(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let next = at; next < tokens.length; next += 1) {
    const text = tokens[next]?.text ?? "";
    if (text === "{" || text === "[") depth += 1;
    if (text === "}" || text === "]") depth -= 1;
    if (depth <= 0) return next + 1;
  }
  return tokens.length;
}

function tokenOf(text: string, start: number): Token {
  return { text, start, end: start + text.length };
}

function isGap(text: string): boolean {
  return /^[ \t\r\n]/.test(text);
}
