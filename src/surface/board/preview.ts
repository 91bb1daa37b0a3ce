/**
 * Keeps the preview of one session fresh. Nothing tells when a screen changes,
 * so it is looked at: every second while it changes, less and less often while
 * it does not, and at once when something happened in its session.
 */
import type { Client } from "../../client/create-client.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { transcriptText } from "../cli/transcript-text.ts";
import type { Preview } from "./model.ts";

export interface PreviewOf {
  readonly session: string;
  readonly source: "screen" | "transcript";
  /** How wide it is shown. */
  readonly columns: number;
}

export interface PreviewFeed {
  /** Null: nothing is to be shown, and nothing is asked. */
  show(wanted: PreviewOf | null): void;
  /** Something happened there. */
  touch(sessions: ReadonlySet<string>): void;
  close(): void;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 16_000;
/** Enough to scroll back a few pages. */
const TAIL_BYTES = 24_576;

export function createPreviewFeed(
  client: Pick<Client, "getSessionData">,
  hasColour: boolean,
  onPreview: (preview: Preview) => void,
): PreviewFeed {
  let wanted: PreviewOf | null = null;
  let asked = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let delayMs = FIRST_MS;
  let shown = "";
  let isAsking = false;
  let isTouched = false;

  async function look(): Promise<void> {
    clearTimeout(timer);
    if (wanted === null) return;
    if (isAsking) {
      isTouched = true;
      return;
    }
    const current = wanted;
    const { signal } = asked;
    isAsking = true;
    const preview = await read(client, current, hasColour, signal).catch((error: unknown) =>
      signal.aborted ? null : { ...current, text: "", note: messageOf(error) },
    );
    if (signal.aborted) return;
    isAsking = false;
    if (preview !== null && preview.text + preview.note !== shown) {
      shown = preview.text + preview.note;
      delayMs = FIRST_MS;
      onPreview(preview);
    } else delayMs = Math.min(LONGEST_MS, delayMs * 2);
    timer = setTimeout(() => void look(), isTouched ? PAUSE_MS : delayMs);
    isTouched = false;
  }

  const stop = (): void => {
    asked.abort();
    asked = new AbortController();
    clearTimeout(timer);
    isAsking = false;
    isTouched = false;
    shown = "";
    delayMs = FIRST_MS;
  };

  return {
    show(next) {
      if (isSame(next, wanted)) return;
      wanted = next;
      stop();
      void look();
    },
    touch(sessions) {
      if (wanted === null || !sessions.has(wanted.session)) return;
      delayMs = FIRST_MS;
      void look();
    },
    close: stop,
  };
}

/** Between two looks at a session in which much happens. */
const PAUSE_MS = 150;

function isSame(one: PreviewOf | null, other: PreviewOf | null): boolean {
  if (one === null || other === null) return one === other;
  return one.session === other.session && one.source === other.source && one.columns === other.columns;
}

async function read(
  client: Pick<Client, "getSessionData">,
  { session, source, columns }: PreviewOf,
  hasColour: boolean,
  signal: AbortSignal,
): Promise<Preview> {
  const data = await client.getSessionData(
    { session, source, tail: TAIL_BYTES, ...(hasColour ? { style: "ansi" as const } : {}) },
    { signal },
  );
  const text =
    data.messages === undefined
      ? (data.text ?? "")
      : await transcriptText(data.messages, { width: columns, hasColour }, Date.now());
  return {
    session,
    source: data.source,
    text: hasColour ? text.trimEnd() : stripTerminal(text).trimEnd(),
    note: data.source === "screen" && source === "screen" ? (data.note.split(". ")[0] ?? "") : data.note,
  };
}
