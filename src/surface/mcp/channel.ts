/**
 * Wakes a Claude Code that a person runs: what happens to the sessions that it
 * started over this connection is pushed into its conversation, by the
 * notification that Claude Code has for that (`notifications/claude/channel`,
 * where its user enabled it). A session of Reeve's is woken by the daemon
 * instead. What the client was told by an answer is not pushed as well.
 */
import { PushedWakes } from "./pushed-wakes.ts";
import type { Backend, Fields } from "./backend.ts";

/** What comes together is told together. */
const GATHERED_MS = 500;

export const CHANNEL_CAPABILITY: Record<string, Record<string, never>> = { "claude/channel": {} };
export const CHANNEL_METHOD = "notifications/claude/channel";

export type Push = (content: string, meta: Readonly<Record<string, string>>) => Promise<void>;

export interface Channel {
  /** The one to serve: what it answers tells which sessions are watched, and what of them is known. */
  readonly backend: Backend;
  close(): void;
}

export function openChannel(backend: Backend, push: Push): Channel {
  const over = new AbortController();
  const { signal } = over;
  const wakes = new PushedWakes();
  let isFollowing = false;
  let timer: NodeJS.Timeout | null = null;

  const flush = (): void => {
    timer = null;
    const wake = wakes.take();
    if (wake === null) return;
    const { content, cursor, count } = wake;
    push(content, { cursor: String(cursor), count: String(count) }).catch((error: unknown) =>
      backend.note("a wake could not be pushed", error),
    );
  };
  const follow = async (since: number): Promise<void> => {
    for await (const event of backend.follow(since, signal))
      if (wakes.heard(event)) timer ??= setTimeout(flush, GATHERED_MS);
  };
  const answered = (verb: string, input: Fields, answer: Fields): void => {
    const since = wakes.answered(verb, input, answer);
    if (since === null || isFollowing) return;
    isFollowing = true;
    void follow(since).catch((error: unknown) => {
      isFollowing = false;
      if (!signal.aborted) backend.note("the events could not be followed, so nobody is woken", error);
    });
  };
  return {
    backend: {
      ...backend,
      async call(verb, input, over) {
        const answer = await backend.call(verb, input, over);
        answered(verb, input, answer.value);
        return answer;
      },
    },
    close() {
      over.abort();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
