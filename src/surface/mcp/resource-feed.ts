/**
 * Tells which resources changed: one followed stream of events for a client
 * that subscribed, however many resources it subscribed to. Events come in
 * bursts, so what changed is told a moment later, each resource once.
 */
import type { Backend } from "./backend.ts";
import { EVENTS_URI, SESSIONS_URI } from "./introduction.ts";
import { headOf, transcriptUri } from "./resources.ts";

/** A client reads a resource again each time it is told; nobody needs that more often. */
const TOLD_AFTER_MS = 250;
const TRY_AGAIN_MS = 1_000;

/** Returns what ends it; then nothing is left of it. */
export function followResources(backend: Backend, tell: (uri: string) => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let since: number | null = null;

  const flush = (): void => {
    timer = null;
    const uris = [...changed];
    changed.clear();
    for (const uri of uris) tell(uri);
  };
  const follow = async (): Promise<void> => {
    since ??= await headOf(backend, signal);
    for await (const { seq, session_id: id } of backend.follow(since, signal)) {
      since = seq;
      for (const uri of [EVENTS_URI, ...(id === null ? [] : [SESSIONS_URI, transcriptUri(id)])]) changed.add(uri);
      timer ??= setTimeout(flush, TOLD_AFTER_MS);
    }
  };
  const keepFollowing = async (): Promise<void> => {
    while (!signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!signal.aborted) backend.note("the events could not be followed", error);
      });
      await new Promise<void>((resolve) => {
        const again = setTimeout(resolve, TRY_AGAIN_MS);
        signal.addEventListener("abort", () => {
          clearTimeout(again);
          resolve();
        });
        if (signal.aborted) resolve();
      });
    }
  };
  void keepFollowing();
  return () => {
    over.abort();
    if (timer !== null) clearTimeout(timer);
  };
}
