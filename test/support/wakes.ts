/**
 * Somebody who waits for a session again and again, each time with the cursor
 * that the wait before returned: what he is woken for is what an orchestrator
 * would see, and each fact must be in it once.
 */
import { onTestFinished } from "vitest";
import type { TestHome } from "./test-home.ts";

export interface Wake {
  readonly reason: string;
  /** What the session asked when he was woken. */
  readonly asks: string | null;
}

interface Waited {
  readonly reason: string;
  readonly cursor: number;
  readonly session: { readonly asks: string | null };
}

export interface Waiter {
  /** He has been woken this often, for any reason. */
  readonly wakes: readonly Wake[];
  /** Everything he was woken for until now, and he goes home. */
  leave(): Promise<readonly Wake[]>;
}

const DAEMON_LOST = 69;

export function keepWaiting(home: TestHome, session: string, since = 0): Waiter {
  const wakes: Wake[] = [];
  const leaving = new AbortController();
  let cursor = since;

  /** False when nothing new has happened. */
  async function waitOnce(seconds: number): Promise<boolean> {
    const line = ["wait", session, "--since", String(cursor), "--timeout", String(seconds), "--json"];
    const { status, stdout, stderr } = await home.run(line);
    // The daemon was killed under him: he asks again from where he was.
    if (status === DAEMON_LOST) return true;
    const waited = JSON.parse(stdout) as Partial<Waited>;
    if (waited.cursor === undefined || waited.session === undefined || waited.reason === undefined)
      throw new Error(`the waiter got no answer: ${status} ${stdout}${stderr}`);
    cursor = waited.cursor;
    if (waited.reason === "timeout" || waited.reason === "nothing-to-wait-for") return false;
    // A death is told to whoever asks: the same one again is nothing new.
    if (waited.reason === "exited" && wakes.at(-1)?.reason === "exited") return false;
    wakes.push({ reason: waited.reason, asks: waited.session.asks });
    return true;
  }

  async function waitOn(): Promise<void> {
    while (!leaving.signal.aborted) await waitOnce(1);
    // What is in the log by now is told in one more round, however long it takes.
    while (await waitOnce(0));
  }

  const waiting = waitOn();
  // Also when the test fails: nothing of it may be left.
  onTestFinished(async () => {
    leaving.abort();
    await waiting.catch(() => undefined);
  });
  return {
    wakes,
    async leave() {
      leaving.abort();
      await waiting;
      return wakes;
    },
  };
}
