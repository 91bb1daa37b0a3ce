/** A Codex conversation ("thread") is named by a UUID; so are its rollout and its writer lock. */
const THREAD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const LOCK = /\/thread-writer-locks\/([0-9a-f-]{36})\.lock$/;
const ROLLOUT = /\/sessions\/\d{4}\/\d{2}\/\d{2}\/rollout-[\dT-]+-([0-9a-f-]{36})\.jsonl$/;

export function isThreadId(value: unknown): value is string {
  return typeof value === "string" && THREAD_ID.test(value);
}

/** `…/sessions/2026/11/15/rollout-2026-11-15T23-07-46-<id>.jsonl` */
export function threadOfRollout(path: string): string | null {
  return matched(ROLLOUT, path);
}

/** `…/thread-writer-locks/<id>.lock`, held open while the thread is (0.166.0). */
export function threadOfLock(path: string): string | null {
  return matched(LOCK, path);
}

function matched(pattern: RegExp, path: string): string | null {
  const id = pattern.exec(path)?.[1];
  return isThreadId(id) ? id : null;
}
