/**
 * What git says of the checkouts that sessions work in: how many commits they
 * are ahead and behind, and how much is not committed. Git is asked only when
 * somebody looks at a session, in the background, and nobody waits for it:
 * what was known before is told until then. One question at a time for each
 * checkout, few at a time in all, and less often where they take long.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Session } from "../../session/session.ts";
import { findGit } from "../launch/git.ts";

export interface GitStatus {
  readonly commit: string | null;
  /** Null: the branch has no upstream. */
  readonly ahead: number | null;
  readonly behind: number | null;
  /** Files that are changed, in conflict or untracked. */
  readonly dirty: number;
  readonly askedAt: number;
}

export interface CheckoutStatus {
  /** What is known, at once; if that is old, git is asked. */
  of(session: Session): GitStatus | null;
  /** Asks git, whatever is known, and waits for the answer: for decisions that must not build on what was. */
  now(session: Session): Promise<GitStatus | null>;
  /** Something in the checkout with this key changed: what is known of it is old. */
  notice(key: string): void;
  close(): void;
}

/** The same path is another directory in another runtime. */
export function checkoutKey(runtime: string, root: string): string {
  return `${runtime} ${root}`;
}

interface Known {
  status: GitStatus | null;
  /** Monotonic: not asked again before. */
  freshUntil: number;
  isAsking: boolean;
  /** A question that somebody waits for and that has not been asked yet. */
  expected: Promise<void> | null;
}

interface Question {
  ask(): Promise<void>;
  /** It will not be asked any more. */
  drop(): void;
}

const FRESH_MS = 5_000;
/** Also after a change: a build may touch the index many times in a second. */
const SHORTEST_MS = 1_000;
/** Git may use so much of the time at most, in a checkout where it takes long. */
const TIMES_AS_LONG = 20;
const MOST_AT_A_TIME = 2;
const MOST_WAITING = 200;
/** More checkouts than sessions live at once; worktrees come and go. */
const MOST_KNOWN = 1_000;
const TIMEOUT_MS = 10_000;

export function createCheckoutStatus(parts: {
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly clock: Clock;
  readonly log: Log;
}): CheckoutStatus {
  const { clock } = parts;
  const known = new Map<string, Known>();
  const waiting: Question[] = [];
  let asking = 0;
  let isClosed = false;

  function ask(session: Session, root: string, entry: Known): void {
    if (isClosed || waiting.length >= MOST_WAITING) return;
    entry.isAsking = true;
    waiting.push({ ask: () => answer(session, root, entry), drop: () => undefined });
    next();
  }

  function next(): void {
    const first = asking < MOST_AT_A_TIME && !isClosed ? waiting.shift() : undefined;
    if (first === undefined) return;
    asking += 1;
    void first.ask().finally(() => {
      asking -= 1;
      next();
    });
  }

  async function answer(session: Session, root: string, entry: Known): Promise<void> {
    const since = clock.monotonic();
    const askedAt = clock.now();
    try {
      entry.status = await statusOf(session, root, askedAt);
    } catch (error) {
      // What was known may be wrong by now, and nobody can say.
      entry.status = null;
      parts.log("git does not say what is in a checkout", { session: session.id, root, why: messageOf(error) });
    }
    const took = clock.monotonic() - since;
    entry.freshUntil = clock.monotonic() + Math.max(FRESH_MS, took * TIMES_AS_LONG);
    entry.isAsking = false;
  }

  async function statusOf({ identity }: Session, root: string, askedAt: number): Promise<GitStatus | null> {
    const git = await findGit(parts.runtime(identity.runtime).files, root, identity.launch.paths);
    if (git === null) return null;
    // No program of the repository's choice is run.
    const args = ["-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "-z"];
    const { status, stdout, stderr } = await git.run(root, args, { timeoutMs: TIMEOUT_MS });
    if (status !== 0) throw new Error(stderr.trim().split("\n", 1)[0] ?? `git ended with ${status}`);
    return { ...parseStatus(stdout), askedAt };
  }

  /** Whoever comes before the question is asked shares its answer; one that is under way may not know what they know. */
  function askNow(session: Session, root: string, entry: Known): Promise<void> {
    const expected =
      entry.expected ??
      new Promise<void>((resolve) => {
        const ask = async (): Promise<void> => {
          entry.expected = null;
          await answer(session, root, entry);
          resolve();
        };
        waiting.push({ ask, drop: resolve });
      });
    entry.expected = expected;
    next();
    return expected;
  }

  function entryOf(session: Session): { readonly root: string; readonly entry: Known } | null {
    const { root } = session.checkout;
    if (root === null || session.process.exit !== null) return null;
    const key = checkoutKey(session.identity.runtime, root);
    let entry = known.get(key);
    if (entry === undefined) {
      known.set(key, (entry = { status: null, freshUntil: 0, isAsking: false, expected: null }));
      const [oldest] = known.keys();
      if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    }
    return { root, entry };
  }

  return {
    of(session) {
      const found = entryOf(session);
      if (found === null) return null;
      const { root, entry } = found;
      if (!entry.isAsking && clock.monotonic() >= entry.freshUntil) ask(session, root, entry);
      return entry.status;
    },
    async now(session) {
      const found = entryOf(session);
      if (found === null || isClosed) return null;
      await askNow(session, found.root, found.entry);
      return found.entry.status;
    },
    notice(key) {
      const entry = known.get(key);
      if (entry !== undefined) entry.freshUntil = Math.min(entry.freshUntil, clock.monotonic() + SHORTEST_MS);
    },
    close() {
      isClosed = true;
      for (const question of waiting.splice(0)) question.drop();
    },
  };
}

/** Of `git status --porcelain=v2 --branch -z`: headers begin with #, a renamed file (2) has its old name in the next field. */
export function parseStatus(text: string): Omit<GitStatus, "askedAt"> {
  const fields = text.split("\0");
  const header = (name: string): string | undefined =>
    fields.find((field) => field.startsWith(`# ${name} `))?.slice(name.length + 3);
  const counts = /^\+(\d+) -(\d+)$/.exec(header("branch.ab") ?? "");
  const commit = header("branch.oid") ?? null;
  let dirty = 0;
  for (let index = 0; index < fields.length; index++) {
    const kind = fields[index]?.slice(0, 2);
    if (kind === "1 " || kind === "2 " || kind === "u " || kind === "? ") dirty += 1;
    if (kind === "2 ") index += 1;
  }
  return {
    commit: commit === "(initial)" ? null : commit,
    ahead: counts === null ? null : Number(counts[1]),
    behind: counts === null ? null : Number(counts[2]),
    dirty,
  };
}
