/**
 * A worktree that Reeve made for a session, as it is recorded. The record is
 * committed before git is called (`making`, `removing`) and again after, so that
 * a daemon that was killed in between finds out what became of it. What is in
 * the worktree is never recorded: it is looked at when somebody asks.
 */
import { defineKind } from "../session/record-kind.ts";
import { flag, instant, object, type Of, oneOf, orNull, positive, recordOf, text } from "../session/shape.ts";

const base = object({
  /** As it was asked for or found: `main`, `origin/main`, `HEAD`. */
  ref: text,
  commit: text,
  committedAt: instant,
  /** fetched: asked of the remote for this start. local: what this repository knew. */
  source: oneOf("fetched", "local"),
});
export interface Base extends Of<typeof base> {}

const saved = object({ ref: text, commit: text, at: instant });
export interface Saved extends Of<typeof saved> {}

const worktreeShape = object({
  id: text,
  revision: positive,
  path: text,
  /** The repository's git directory, which all its worktrees share. */
  repository: text,
  /** The checkout that files are copied from, and compared with. */
  main: text,
  branch: text,
  /** Reeve made the branch, so it may delete it once it is merged. */
  isBranchOurs: flag,
  /** Null where the branch was there before. */
  base: orNull(base),
  /** Where it lies, and how git is found there. */
  runtime: text,
  paths: recordOf(text),
  state: oneOf("making", "ready", "removing"),
  /** That it was made for, or that used it last; a start that was not recorded left one that nobody knows. */
  sessionId: text,
  /** The key of the request that it is being made for: a repeat goes on with it. */
  request: orNull(text),
  createdAt: instant,
  saved: orNull(saved),
});

export type Worktree = Of<typeof worktreeShape>;

export const worktreeKind = defineKind<Worktree>({
  name: "worktree",
  parse(value) {
    if (!worktreeShape.is(value)) throw new Error("it does not describe a worktree");
    return value;
  },
});

/** Below `refs/heads/`: what Reeve calls a branch that nobody named. */
export const BRANCH_PREFIX = "reeve/";

/** Where the work of a session is saved; no tool of git's pushes or deletes it by itself. */
export function savedRef(sessionId: string): string {
  return `refs/reeve/${sessionId}`;
}
