/**
 * The story of a session as it goes on. Events of the session say when to look
 * again. What an agent writes into its transcript and what is recorded of model
 * calls is not told as events, so while the agent works, and once after each
 * event, it looks without being told. A look reads the whole story: one that
 * takes long is followed by a long rest.
 */
import type { Client } from "../../client/client.ts";
import type { InputOf, OutputOf } from "../../client/operation-types.ts";
import { parseCursor, type StoryCursor } from "../../session/story/page.ts";

export type StoryPage = OutputOf<"showSession">;
type Entry = StoryPage["entries"][number];

/** Events come together, and the transcript is written beside them. */
const GATHER_MS = 300;
/** What is written down after the event that tells of it. */
const LATE_MS = 1_000;
const WORKING_MS = 2_000;
/** A look that took a second is followed by ten without one. */
const REST_TIMES = 10;
/** A call to the model is shown when it has ended, or so long after it began. */
const UNFINISHED_MS = 60_000;

/** Each page has something new; it ends when the session has, and with one that was imported at once. */
export async function* followStory(
  client: Pick<Client, "showSession" | "followEvents">,
  request: InputOf<"showSession">,
): AsyncGenerator<StoryPage["entries"], void, void> {
  const left = new AbortController();
  const bell = createBell();
  let wish = await startOf(client, request);
  let hearing: Promise<void> | null = null;
  /** The last look came by itself, after one that an event asked for. */
  let isSettled = false;
  try {
    for (;;) {
      bell.clear();
      const began = performance.now();
      const page = await client.showSession(wish);
      const isOver = page.session === null || isEnded(page.session);
      const shown = isOver ? page : withoutUnfinished(page, wish.since, Date.now());
      wish = { ...wish, last: undefined, since: shown.cursor };
      if (shown.entries.length > 0) yield shown.entries;
      if (page.more && shown === page) continue;
      if (page.session === null || (isOver && isSettled)) return;
      hearing ??= hear(client, { session: page.session.session_id, since: logOf(shown.cursor) }, bell, left.signal);
      const againMs = !isSettled ? LATE_MS : isAtWork(page.session) ? WORKING_MS : null;
      const restMs = (performance.now() - began) * REST_TIMES;
      const hasRung: boolean = await bell.rings(againMs === null ? null : Math.max(againMs, restMs));
      isSettled = !hasRung;
      if (hasRung) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    }
  } finally {
    left.abort();
    await hearing;
  }
}

/** From now on, unless more is asked for. */
async function startOf(
  client: Pick<Client, "showSession">,
  request: InputOf<"showSession">,
): Promise<InputOf<"showSession">> {
  if (request.last !== undefined || request.from !== undefined || request.since !== undefined) return request;
  const { cursor } = await client.showSession({ ...request, last: 1, limit: 1 });
  return { ...request, since: cursor };
}

interface Bell {
  ring(failure?: unknown): void;
  clear(): void;
  /** Whether it rang within so long, or since it was cleared; null: for ever. Rejects with a failure. */
  rings(ms: number | null): Promise<boolean>;
}

function createBell(): Bell {
  let hasRung = false;
  let failed: { readonly why: unknown } | null = null;
  let wake = (): void => undefined;
  return {
    ring(failure) {
      hasRung = true;
      if (failure !== undefined) failed = { why: failure };
      wake();
    },
    clear: () => void (hasRung = false),
    async rings(ms) {
      if (!hasRung && failed === null)
        await new Promise<void>((resolve) => {
          const timer = ms === null ? undefined : setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      if (failed !== null) throw failed.why;
      return hasRung;
    },
  };
}

/** Goes on over restarts of the daemon. */
async function hear(
  client: Pick<Client, "followEvents">,
  from: { readonly session: string; readonly since: number },
  bell: Bell,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of client.followEvents(from, { signal })) bell.ring();
  } catch (error) {
    if (!signal.aborted) bell.ring(error);
  }
}

/** Without calls to the model whose end is still to come, and those after them: the cursor stays before these. */
export function withoutUnfinished(page: StoryPage, before: string | undefined, now: number): StoryPage {
  const held = page.entries.find((entry) => isUnfinished(entry) && now - Date.parse(entry.at) < UNFINISHED_MS);
  const cursor = parseCursor(page.cursor);
  if (held === undefined || cursor === null) return page;
  const seen = (before === undefined ? null : parseCursor(before))?.api ?? 0;
  const kept = page.entries.filter(({ source, seq }) => source !== "api" || seq < held.seq);
  const api = Math.max(seen, held.seq - 1);
  return { ...page, entries: kept, cursor: cursorText({ ...cursor, api }) };
}

function isUnfinished({ type, data }: Entry): boolean {
  return type === "model-call" && data["outcome"] === null;
}

function cursorText({ log, transcript, api }: StoryCursor): string {
  return `${log}.${transcript}.${api}`;
}

function logOf(cursor: string): number {
  return parseCursor(cursor)?.log ?? 0;
}

function isAtWork({ activity }: NonNullable<StoryPage["session"]>): boolean {
  return activity === "working" || activity === "starting";
}

function isEnded({ desired, state }: NonNullable<StoryPage["session"]>): boolean {
  return desired === "stopped" && state === "stopped";
}
