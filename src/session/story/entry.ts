/**
 * The story of a session: what happened in it as one list, from three sources
 * that each have their own order. `log` is Reeve's event log, `transcript` the
 * agent's own, `api` the exchanges with the model. Pure; the fields are those
 * of the API and of `story.jsonl` in an archive.
 */

/** What an entry is about, in the words of `--only`. */
export const STORY_KINDS = [
  "turns",
  "said",
  "tools",
  "api",
  "approvals",
  "messages",
  "mail",
  "health",
  "restarts",
  "branches",
  "work",
  "session",
  "inbox",
  "activity",
] as const;
export type StoryKind = (typeof STORY_KINDS)[number];

/** They repeat what others tell better; shown where somebody asks for them. */
export const QUIET_KINDS: ReadonlySet<StoryKind> = new Set(["inbox", "activity"]);

/** In this order where nothing else tells which came first: a turn begins before what is said in it. */
export const STORY_SOURCES = ["log", "transcript", "api"] as const;
export type StorySource = (typeof STORY_SOURCES)[number];

export interface StoryEntry {
  readonly source: StorySource;
  /** Grows within a source; with it the entry's name. */
  readonly seq: number;
  /** ISO 8601, as the clock of the machine was then. */
  readonly at: string;
  readonly kind: StoryKind;
  /** The type of the event, `said`, `tool-call`, `tool-result`, `model-call` or `capture-dropped`. */
  readonly type: string;
  /** In which turn; null: in none. */
  readonly turn: number | null;
  /** `operator`, `session:<id>`, `rule:<name>`, `user`, `agent`, `model`, `terminal`, `reeve`. */
  readonly actor: string;
  /** One line for people. */
  readonly what: string;
  /** What was said, or a tool was called with, at most `MOST_TEXT` characters; null where there is no more than `what`. */
  readonly text: string | null;
  readonly failed: boolean;
  /** How long it took; null where that is not known, or it takes no time. */
  readonly ms: number | null;
  /** All that is known of it, for programs. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An entry on its way into the story: its turn and place are not known yet. */
export interface StoryPart extends Omit<StoryEntry, "turn"> {
  /** Where its source says so. */
  readonly turn: number | null;
  /** The monotonic clock of the machine; null where nobody wrote it down. */
  readonly mono: number | null;
}

export const MOST_TEXT = 16_384;
const MOST_LINE = 400;
/** Not written out: see surface/cli/text-ruler.ts, whose bundle holds this file, too. */
const ELLIPSIS = String.fromCodePoint(0x2026);

/** A text of any length as one line that is not too long. */
export function inOneLine(text: string): string {
  const line = beginning(text, MOST_LINE * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= MOST_LINE ? line : line.slice(0, MOST_LINE - 1) + ELLIPSIS;
}

/** Its beginning; whoever cuts says so. */
export function bounded(text: string, most = MOST_TEXT): string {
  if (text.length <= most) return text;
  const begun = beginning(text, most);
  return `${begun}\n(${text.length - begun.length} more characters)`;
}

/** A copy, with no character halved: what `slice` returns keeps the whole text in memory while it is kept itself (V8). */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  return Buffer.from(text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")).toString();
}

export function inSeconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
