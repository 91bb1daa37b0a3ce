/**
 * Takes secrets out of text before it is written anywhere: the values that are
 * known to be secret, however a terminal or a frame wrapped them, half of a
 * long one where the rest is out of sight, and what has the shape of a
 * well-known kind of token (secret-shape.ts). Everything is linear in the
 * length of the text: an agent chooses it.
 */
import { shapedSpans } from "./secret-shape.ts";
import { type FlatText, flatten, type Span } from "./flat-text.ts";

export const REDACTED = "[redacted]";

/** Shorter ones are only looked for where no line break is in them: by chance, halves of words meet. */
const WRAPPED_LENGTH = 6;
/** Half of it is enough to be worth hiding, and too much to be there by chance. */
const HALVED = /^(?=[^0-9]*[0-9])[A-Za-z0-9_.+=~-]{20,}$/;
/** More than this is not held back for a secret that may be about to go on. */
const MOST_KEPT = 16_384;
const MOST_BEGUN = 4_096;

export interface Redactor {
  /** Text that may be written now; what may be the beginning of a secret is kept until the next call. */
  push(text: string): string;
  flush(): string;
}

export function redact(text: string, secrets: readonly string[]): string {
  return withoutSpans(text, spansIn(text, known(secrets)).spans);
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const values = known(secrets);
  let kept = "";
  const take = (whole: string, isLast: boolean): string => {
    const { flat, spans, openFrom } = spansIn(whole, values);
    const from = isLast ? whole.length : Math.min(openFrom, begunFrom(flat, values), whole.length);
    const edge = whole.length - from > MOST_KEPT ? whole.length : edgeBefore(from, spans);
    kept = whole.slice(edge);
    return withoutSpans(
      whole.slice(0, edge),
      spans.filter((span) => span.end <= edge),
    );
  };
  return {
    push: (text) => take(kept + text, false),
    flush() {
      const rest = take(kept, true);
      kept = "";
      return rest;
    },
  };
}

/** A secret is written whole or kept whole, with all its parts. */
function edgeBefore(from: number, spans: readonly Span[]): number {
  let edge = from;
  for (let index = spans.length - 1; index >= 0; index -= 1) {
    const { start, end, goesOn } = spans[index] ?? { start: 0, end: 0 };
    if (end <= edge) break;
    edge = Math.min(edge, start);
    if (goesOn === true) edge = Math.min(edge, spans[index - 1]?.start ?? edge);
  }
  return edge;
}

interface Found {
  readonly flat: FlatText;
  /** Where in the text, in order and apart from one another. */
  readonly spans: readonly Span[];
  /** From here on a token may go on in the text to come. */
  readonly openFrom: number;
}

function spansIn(text: string, values: readonly Value[]): Found {
  const flat = flatten(text);
  const shaped = shapedSpans(flat);
  const spans: Span[] = shaped.spans.flatMap((span) => flat.partsOf(span));
  for (const { whole, wrapped, halves } of values) {
    for (const span of occurrences(text, whole)) spans.push(span);
    if (wrapped !== null) for (const span of occurrences(flat.text, wrapped)) spans.push(...flat.partsOf(span));
    if (halves !== null) for (const span of halvesIn(flat.text, halves)) spans.push(...flat.partsOf(span));
  }
  return { flat, spans: merged(spans), openFrom: flat.at(shaped.openFrom) };
}

interface Value {
  readonly whole: string;
  /** Without its own line breaks; null for one that is too short to be looked for across lines. */
  readonly wrapped: string | null;
  readonly halves: string | null;
}

function known(secrets: readonly string[]): readonly Value[] {
  return [...new Set(secrets)]
    .filter((secret) => secret !== "")
    .map((whole) => {
      const wrapped = whole.replaceAll("\n", "");
      return {
        whole,
        wrapped: wrapped.length >= WRAPPED_LENGTH ? wrapped : null,
        halves: HALVED.test(whole) ? whole : null,
      };
    });
}

function* occurrences(text: string, secret: string): Generator<Span> {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length))
    yield { start: at, end: at + secret.length };
}

/** Its first or its second half, and as much more of it as follows or precedes. */
function* halvesIn(text: string, secret: string): Generator<Span> {
  const middle = Math.ceil(secret.length / 2);
  for (const { start, end } of occurrences(text, secret.slice(0, middle))) {
    let length = middle;
    while (length < secret.length && text[start + length] === secret[length]) length += 1;
    yield { start, end: Math.max(end, start + length) };
  }
  for (const { start, end } of occurrences(text, secret.slice(-middle))) {
    let length = middle;
    while (length < secret.length && text[end - length - 1] === secret[secret.length - length - 1]) length += 1;
    yield { start: Math.min(start, end - length), end };
  }
}

/** Where in the text a secret may have begun that ends in the text to come. */
function begunFrom(flat: FlatText, values: readonly Value[]): number {
  const longest = Math.max(0, ...values.map(({ whole, wrapped }) => begunAtEnd(flat.text, wrapped ?? whole)));
  return longest === 0 ? Number.POSITIVE_INFINITY : flat.at(flat.text.length - longest);
}

function begunAtEnd(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length - 1, MOST_BEGUN); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

function merged(spans: readonly Span[]): readonly Span[] {
  const apart: { start: number; end: number; goesOn: boolean }[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = apart.at(-1);
    if (last !== undefined && span.start <= last.end) {
      last.end = Math.max(last.end, span.end);
      last.goesOn &&= span.goesOn === true;
    } else apart.push({ start: span.start, end: span.end, goesOn: span.goesOn === true });
  }
  return apart;
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  let safe = "";
  let from = 0;
  for (const { start, end, goesOn } of spans) {
    safe += text.slice(from, start) + (goesOn === true ? "" : REDACTED);
    from = end;
  }
  return safe + text.slice(from);
}
