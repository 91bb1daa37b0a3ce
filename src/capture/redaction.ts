/**
 * Removes secrets from text before it is written anywhere: known secret values,
 * also if a terminal or a frame wrapped them; half of a long value, if the
 * other half is not visible; and tokens of a well-known form (secret-shape.ts).
 * In its place stands `[redacted]`, or `[redacted <tag>]` where a tagger is given.
 * The time must be linear in the length of the text, because an agent chooses
 * the text.
 */
import { shapedSpans } from "./secret-shape.ts";
import { type FlatText, flatten, lengthBeforeEdge, type Span as Place, squeeze } from "./flat-text.ts";
import { formsOf } from "./secret-forms.ts";
import type { Tagger } from "./secret-tag.ts";

export const REDACTED = "[redacted]";

/** Shorter ones are only looked for where no line break is in them: by chance, halves of words meet. */
const WRAPPED_LENGTH = 6;
/** Of one with blanks in it, without these. */
const SQUEEZED_LENGTH = 8;
/** Half of it is enough to be worth hiding, and too much to be there by chance. */
const HALVED = /^(?=[^0-9]*[0-9])[A-Za-z0-9_.+=~-]{20,}$/;
/** So much of it is hidden at the end of a text, where something cut it off. */
const CUT_OFF_LENGTH = 6;
/** More than this is not held back for a secret that may be about to go on. */
const MOST_KEPT = 16_384;
const MOST_BEGUN = 4_096;

export interface Redactor {
  /** Text that may be written now; what may be the beginning of a secret is kept until the next call. */
  push(text: string): string;
  flush(): string;
  /** The same as `push`, in pieces that say which part of the text each one stands for. */
  pushPieces(text: string): readonly SafePiece[];
  flushPieces(): readonly SafePiece[];
}

export interface SafePiece {
  /** Where it is hidden: what is written in its place. */
  readonly text: string;
  /** How many characters of the text it stands for. */
  readonly length: number;
  readonly isHidden: boolean;
}

export interface RedactionOptions {
  /** Names the secret in its placeholder. */
  readonly tag?: Tagger;
  /** The text is bytes, one character each, whatever they encode. */
  readonly ofBytes?: true;
}

export function redact(text: string, secrets: readonly string[], options: RedactionOptions = {}): string {
  return createRedaction(secrets, options).text(text);
}

/** The same for many texts, whole or in pieces: the secrets are prepared once. */
export interface Redaction {
  text(text: string): string;
  stream(): Redactor;
}

export function createRedaction(secrets: readonly string[], options: RedactionOptions = {}): Redaction {
  const values = known(secrets, options);
  const withoutSpans = replacing(options);
  return {
    text(text) {
      const { flat, spans } = spansIn(text, values);
      return joined(withoutSpans(text, merged([...spans, ...cutOff(flat, values)])));
    },
    stream: () => createStream(values, withoutSpans),
  };
}

export function createRedactor(secrets: readonly string[], options: RedactionOptions = {}): Redactor {
  return createRedaction(secrets, options).stream();
}

function createStream(values: readonly Value[], withoutSpans: Replace): Redactor {
  let kept = "";
  /** What of it is known to be secret, though its beginning has been written off. */
  let hidden: readonly Span[] = [];
  /** How much of the line that is kept has been let go: a line is as long as it was, for what may be wrapped. */
  let lead = 0;
  const keepFrom = (whole: string, edge: number): void => {
    const lineStart = edge === 0 ? 0 : whole.lastIndexOf("\n", edge - 1) + 1;
    lead = edge - lineStart + (lineStart === 0 ? lead : 0);
    kept = whole.slice(edge);
  };
  const take = (text: string): readonly SafePiece[] => {
    const whole = kept + text;
    // Blanks at its end are kept: with a line break after them a secret may go on behind them.
    const found = spansIn(whole.slice(0, lengthBeforeEdge(whole)), values, lead);
    const spans = hidden.length === 0 ? found.spans : merged([...hidden, ...found.spans]);
    const from = Math.min(found.openFrom, begunFrom(found, values), lengthBeforeEdge(whole));
    const whenWhole = edgeBefore(from, spans);
    if (whole.length - whenWhole <= MOST_KEPT) {
      keepFrom(whole, whenWhole);
      hidden = [];
      return withoutSpans(whole.slice(0, whenWhole), spansBefore(spans, whenWhole));
    }
    const edge = whole.length - from > MOST_KEPT ? whole.length : from;
    keepFrom(whole, edge);
    hidden = spansAfter(spans, edge);
    return withoutSpans(whole.slice(0, edge), spansBefore(spans, edge));
  };
  return {
    push: (text) => joined(take(text)),
    flush: () => joined(flushPieces()),
    pushPieces: take,
    flushPieces,
  };

  function flushPieces(): readonly SafePiece[] {
    const { flat, spans } = spansIn(kept, values, lead);
    const rest = withoutSpans(kept, merged([...hidden, ...spans, ...cutOff(flat, values)]));
    kept = "";
    hidden = [];
    lead = 0;
    return rest;
  }
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

function spansBefore(spans: readonly Span[], edge: number): readonly Span[] {
  return spans.filter(({ start }) => start < edge).map((span) => ({ ...span, end: Math.min(span.end, edge) }));
}

function spansAfter(spans: readonly Span[], edge: number): readonly Span[] {
  return spans
    .filter(({ end }) => end > edge)
    .map((span) => ({
      ...span,
      start: Math.max(0, span.start - edge),
      end: span.end - edge,
      goesOn: span.goesOn === true || span.start < edge,
    }));
}

interface Span extends Place {
  /** What it hides, as the secret itself is written. */
  readonly secret?: string;
}

interface Found {
  readonly flat: FlatText;
  /** Null when no secret has blanks in it. */
  readonly squeezed: FlatText | null;
  /** Where in the text, in order and apart from one another. */
  readonly spans: readonly Span[];
  /** From here on a token may go on in the text to come. */
  readonly openFrom: number;
}

function spansIn(text: string, values: readonly Value[], lead = 0): Found {
  const flat = flatten(text, lead);
  const squeezedText = values.some(({ squeezed }) => squeezed !== null) ? squeeze(text) : null;
  const shaped = shapedSpans(flat);
  const spans: Span[] = [];
  const add = (among: FlatText, span: Place, secret: string): void => {
    for (const part of among.partsOf(span)) spans.push({ ...part, secret });
  };
  for (const { secret, whole, wrapped, squeezed, halves } of values) {
    // Who has the whole has its halves.
    if (halves !== null) {
      for (const span of halvesIn(flat.text, halves)) add(flat, span, secret);
      continue;
    }
    for (const span of occurrences(text, whole)) spans.push({ ...span, secret });
    if (wrapped !== null && flat.text !== text)
      for (const span of occurrences(flat.text, wrapped)) add(flat, span, secret);
    if (squeezedText !== null && squeezed !== null)
      for (const span of occurrences(squeezedText.text, squeezed)) add(squeezedText, span, secret);
  }
  // Last: where it is a known one, too, that one's name counts.
  for (const span of shaped.spans) add(flat, span, flat.text.slice(span.start, span.end));
  return { flat, squeezed: squeezedText, spans: merged(spans), openFrom: flat.at(shaped.openFrom) };
}

interface Value {
  readonly secret: string;
  /** One of its forms. */
  readonly whole: string;
  /** To be looked for across lines; null for one that is too short for that. */
  readonly wrapped: string | null;
  /** For one with blanks or line breaks of its own: without them. */
  readonly squeezed: string | null;
  readonly halves: string | null;
}

function known(secrets: readonly string[], { ofBytes }: RedactionOptions): readonly Value[] {
  const asWritten = (text: string): string => (ofBytes === true ? Buffer.from(text).toString("latin1") : text);
  return [...new Set(secrets)].flatMap((secret) =>
    formsOf(secret).map((form) => {
      const whole = asWritten(form);
      const solid = squeeze(whole).text;
      const isSolid = solid === whole;
      return {
        secret: asWritten(secret),
        whole,
        wrapped: isSolid && whole.length >= WRAPPED_LENGTH ? whole : null,
        squeezed: !isSolid && solid.length >= SQUEEZED_LENGTH ? solid : null,
        halves: HALVED.test(whole) ? whole : null,
      };
    }),
  );
}

function* occurrences(text: string, secret: string): Generator<Place> {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length))
    yield { start: at, end: at + secret.length };
}

/** Its first or its second half, and as much more of it as follows or precedes. */
function* halvesIn(text: string, secret: string): Generator<Place> {
  const middle = Math.ceil(secret.length / 2);
  if (!text.includes(secret.slice(0, middle)) && !text.includes(secret.slice(-middle))) return;
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
function begunFrom({ flat, squeezed }: Found, values: readonly Value[]): number {
  const begun = (among: FlatText, texts: readonly string[]): number => {
    const longest = Math.max(0, ...texts.map((text) => begunAtEnd(among.text, text)));
    return longest === 0 ? Number.POSITIVE_INFINITY : among.at(among.text.length - longest);
  };
  const solid = squeezed === null ? [] : values.flatMap((value) => value.squeezed ?? []);
  return Math.min(
    begun(
      flat,
      values.map(({ whole }) => whole),
    ),
    squeezed === null ? Number.POSITIVE_INFINITY : begun(squeezed, solid),
  );
}

/** What is left of a secret where the text was cut, as it is for a title. */
function cutOff(flat: FlatText, values: readonly Value[]): readonly Span[] {
  const text = flat.text.endsWith("…") ? flat.text.slice(0, -1) : flat.text;
  return values.flatMap(({ secret, halves }) => {
    const length = halves === null ? 0 : begunAtEnd(text, halves);
    if (length < CUT_OFF_LENGTH) return [];
    return flat.partsOf({ start: text.length - length, end: text.length }).map((part) => ({ ...part, secret }));
  });
}

function begunAtEnd(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length - 1, MOST_BEGUN); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** The first one's secret names it: of those that begin together, the longest one's. */
function merged(spans: readonly Span[]): readonly Span[] {
  const apart: { start: number; end: number; goesOn: boolean; secret: string }[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = apart.at(-1);
    if (last !== undefined && span.start <= last.end) {
      last.end = Math.max(last.end, span.end);
      last.goesOn &&= span.goesOn === true;
    } else {
      const { start, end, goesOn = false, secret = "" } = span;
      apart.push({ start, end, goesOn, secret });
    }
  }
  return apart;
}

type Replace = (text: string, spans: readonly Span[]) => readonly SafePiece[];

function replacing({ tag, ofBytes }: RedactionOptions): Replace {
  const named = (secret: string): string => (ofBytes === true ? Buffer.from(secret, "latin1").toString() : secret);
  const placeholder = (secret = ""): string => (tag === undefined ? REDACTED : `[redacted ${tag(named(secret))}]`);
  return (text, spans) => {
    const pieces: SafePiece[] = [];
    const keep = (from: number, until: number): void => {
      if (until > from) pieces.push({ text: text.slice(from, until), length: until - from, isHidden: false });
    };
    let from = 0;
    for (const { start, end, goesOn, secret } of spans) {
      keep(from, start);
      pieces.push({ text: goesOn === true ? "" : placeholder(secret), length: end - start, isHidden: true });
      from = end;
    }
    keep(from, text.length);
    return pieces;
  };
}

function joined(pieces: readonly SafePiece[]): string {
  return pieces.map(({ text }) => text).join("");
}
