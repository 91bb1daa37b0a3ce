/**
 * Looks at the checkout of a session for a recovery. It takes no lock, changes
 * nothing, runs no program of the repository's choice, and asks git where the
 * session lives, not through the session's own shell.
 */
import { join } from "node:path";
import { clipped } from "../../fleet/mail.ts";
import { lines, parseStatus } from "../../fleet/git-output.ts";
import type { CheckoutFacts, Found, LockFact } from "../../fleet/recovery.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { type SeenHead, shortCommit } from "../../session/checkout.ts";
import type { Session } from "../../session/session.ts";
import { findCheckout, readHead } from "../launch/checkout-files.ts";
import { findGit, type Git } from "../launch/git.ts";

const STATUS = ["-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "-z", "--no-renames"];

/** From its process's end to the start of the next, or until now; null: it was not away. */
export interface Absence {
  readonly from: number;
  readonly until: number;
}

/** Null: its directory is in no repository. Throws what could not be found out. */
export async function checkoutFacts(
  files: SessionFiles,
  session: Session,
  around: { readonly absence: Absence | null; readonly now: number; readonly timeoutMs: number },
): Promise<CheckoutFacts | null> {
  const { launch, branch: declared } = session.identity;
  if ((await files.stat(launch.cwd)) === null) throw new Error(`${launch.cwd} is not there any more`);
  const found = await findCheckout(files, launch.cwd);
  if (found === null) return null;
  if (found === "bare") throw new Error(`${launch.cwd} is in a bare repository, which has no checkout`);
  const { root, gitDir } = found;
  const git = await findGit(files, root, launch.paths);
  if (git === null) throw new Error("there is no git on its PATH");
  const ask = (args: readonly string[]): Promise<string> => said(git, root, args, around.timeoutMs);
  const [status, stashes, head, there, moves] = await Promise.all([
    ask(STATUS),
    ask(["stash", "list", "--format=%gd: %gs"]),
    readHead(files, gitDir),
    files.list(gitDir),
    movesIn(files, gitDir, around),
  ]);
  const names = there.map(({ name }) => name);
  const { staged, modified, unmerged, untracked } = parseStatus(status);
  const counts = /^# branch\.ab \+(\d+) -(\d+)$/m.exec(status.replaceAll("\0", "\n"));
  return {
    root,
    declared,
    actual: actualOf(head),
    underWay: underWayIn(new Set(names), head),
    changed: [...new Set([...staged, ...modified])].map(safePath),
    conflicted: unmerged.map(safePath),
    untracked: untracked.map(safePath),
    ahead: counts === null ? null : Number(counts[1]),
    behind: counts === null ? null : Number(counts[2]),
    stashes: lines(stashes).map(stripTerminal),
    locks: await locksIn(files, gitDir, names),
    moves,
  };
}

async function said(git: Git, root: string, args: readonly string[], timeoutMs: number): Promise<string> {
  const { status, stdout, stderr } = await git.run(root, args, { timeoutMs });
  if (status === 0) return stdout;
  throw new Error(stripTerminal(stderr.trim().split("\n", 1)[0] ?? `git ended with ${status}`));
}

const LONGEST_PATH = 120;

function safePath(path: string): string {
  return clipped(stripTerminal(path).replace(/\s+/g, " "), LONGEST_PATH);
}

function actualOf(head: SeenHead | null): string {
  if (head === null) return "a HEAD that cannot be read";
  if (head.branch !== null) return head.branch;
  const commit = shortCommit(head.commit ?? "");
  return head.underWay === null ? `commit ${commit} and no branch` : `commit ${commit} (${head.underWay})`;
}

/** What git leaves beside HEAD while it is in the middle of something; the first that fits is told. */
const UNDER_WAY = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase or git am"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a cherry-pick or revert of several commits"],
  ["BISECT_LOG", "a bisect"],
] as const;

/** A rebase picks commits, and so leaves marks of a cherry-pick, too. */
function underWayIn(names: ReadonlySet<string>, head: SeenHead | null): readonly string[] {
  const found = UNDER_WAY.find(([name]) => names.has(name))?.[1];
  const named = head?.underWay ?? null;
  if (named !== null) return [named];
  return found === undefined ? [] : [found];
}

async function locksIn(files: SessionFiles, gitDir: string, names: readonly string[]): Promise<readonly LockFact[]> {
  const found: LockFact[] = [];
  for (const name of names.filter((one) => one.endsWith(".lock"))) {
    const path = join(gitDir, name);
    const state = await files.stat(path);
    if (state !== null) found.push({ path: safePath(path), madeAt: state.modifiedAt });
  }
  return found;
}

const REFLOG_BYTES = 65_536;

/** By the log of HEAD, which counts in whole seconds: a move in the second of the end is taken for the session's own. */
async function movesIn(
  files: SessionFiles,
  gitDir: string,
  { absence, now }: { readonly absence: Absence | null; readonly now: number },
): Promise<Found<readonly string[]>> {
  if (absence === null) return { known: true, value: [], at: now };
  try {
    const { lines: all } = await files.readTail(join(gitDir, "logs", "HEAD"), { bytes: REFLOG_BYTES, since: null });
    const value = all.flatMap((line) => {
      const [, seconds, what] = /> (\d+) [+-]\d{4}\t(.*)$/.exec(line) ?? [];
      const at = Number(seconds) * 1_000;
      return what !== undefined && at > absence.from && at <= absence.until ? [stripTerminal(what)] : [];
    });
    return { known: true, value, at: now };
  } catch (error) {
    return { known: false, why: `git keeps no readable log of HEAD here (${messageOf(error)})`, at: now };
  }
}
