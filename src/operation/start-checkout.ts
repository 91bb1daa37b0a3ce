/**
 * The checkout that a new session works in: the directory that was given, or
 * with `worktree` one that is made for it first. If the start then fails, what was made
 * for it is taken away again.
 */
import { resolve } from "node:path";
import * as z from "zod/mini";
import { newSessionId } from "../platform/ids.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Base } from "../fleet/worktree.ts";
import type { Session } from "../session/session.ts";
import type { MadeWorktree } from "../supervisor/worktree/making.ts";
import type { OperationContext } from "./contract.ts";
import { count, instant, instantOrNull, plainText, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import type { RecordFor } from "./idempotency.ts";
import { iso } from "./session-view.ts";
import { chosenRuntime } from "./start-container.ts";

export const checkoutInput = {
  worktree: z
    ._default(z.boolean(), false)
    .check(
      z.describe(
        "Whether the session gets a git worktree of its own, made from the repository of `cwd`: on `branch`, which is created if it does not exist, or on a new branch reeve/<name>.",
      ),
    ),
  base: z
    .optional(plainText().check(z.minLength(1, "a branch, a tag or a commit"), z.maxLength(255)))
    .check(z.describe("With `worktree`: what a new branch begins from; by default the branch that `cwd` is on.")),
  fetch: z
    .optional(z.boolean())
    .check(
      z.describe(
        "With `worktree`: whether to fetch from the remote first. A new branch then begins from the remote's main branch. By default as the settings say.",
      ),
    ),
} as const;

export const madeWorktreeSchema = whenUsed(() =>
  z
    .object({
      path: text("Where it is."),
      branch: text("The branch that is checked out in it."),
      is_new: yesOrNo("False: it was there, and is used again."),
      commit: textOrNull("The commit that is checked out; null in the answer to a repeated request."),
      base: z
        .nullable(
          z.object({
            ref: text("What the branch began from."),
            commit: text("The commit that this was."),
            committed_at: instant("When that commit was made."),
            source: z
              .enum(["fetched", "local"])
              .check(z.describe("fetched: the remote was asked for it just then. local: what the repository knew.")),
          }),
        )
        .check(z.describe("What the branch began from; null where the branch was there before.")),
      behind: z
        .nullable(
          z.object({
            ref: text("The remote's main branch."),
            commits: count("How many commits it has that the worktree does not."),
            fetched_at: instantOrNull("When the repository last fetched; null where that is not known."),
          }),
        )
        .check(z.describe("How old it is, compared with the remote's main branch; null where that is not known.")),
      changes: count("Of one that is used again: how many files are changed and not committed."),
      notes: z.array(z.string()).check(z.describe("What is different from the main checkout, a sentence each.")),
    })
    .register(z.globalRegistry, { id: "MadeWorktree", description: "The worktree that a session was started in." }),
);

export interface StartPlace {
  readonly id: string;
  readonly cwd: string;
  readonly made: MadeWorktree | null;
}

interface CheckoutRequest {
  readonly agent: string;
  readonly name?: string | undefined;
  readonly cwd: string;
  readonly branch?: string | undefined;
  readonly runtime?: string | undefined;
  readonly role?: string | undefined;
  readonly worktree: boolean;
  readonly base?: string | undefined;
  readonly fetch?: boolean | undefined;
  readonly env: Readonly<Record<string, string>>;
}

export async function inCheckout<T>(
  context: OperationContext,
  input: CheckoutRequest,
  parts: {
    readonly brought: Readonly<Record<string, string | undefined>>;
    readonly record: RecordFor;
    readonly label: () => string;
  },
  start: (place: StartPlace) => Promise<T>,
): Promise<T> {
  const { supervisor, caller } = context;
  const id = newSessionId();
  if (!input.worktree) {
    if (input.base !== undefined || input.fetch === true)
      throw new ReeveError({
        code: "bad-request",
        kind: "usage",
        message: `--${input.base === undefined ? "fetch" : "base"} belongs to --worktree; add that, or leave it out.`,
      });
    return await start({ id, cwd: input.cwd, made: null });
  }
  const runtime = chosenRuntime(context, input);
  supervisor.requireStartable(input.agent, runtime);
  const made = await supervisor.worktrees.make({
    runtime,
    cwd: resolve("/", input.cwd),
    branch: input.branch ?? null,
    label: input.name ?? parts.label(),
    base: input.base ?? null,
    fetch: input.fetch ?? null,
    environment: supervisor.environment({ caller: parts.brought, envFile: null, given: input.env }),
    sessionId: id,
    request: parts.record(id)?.key ?? null,
    caller,
  });
  try {
    const started = await start({ id, cwd: made.cwd, made });
    supervisor.worktrees.release(made);
    return started;
  } catch (error) {
    supervisor.worktrees.release(made);
    await supervisor.worktrees.discard(made, { caller });
    throw error;
  }
}

/** `made`: by this very call; null where it is a repeat, or the session has none. */
export async function viewMade(
  { supervisor }: OperationContext,
  { checkout }: Session,
  made: MadeWorktree | null,
): Promise<z.infer<typeof madeWorktreeSchema> | null> {
  if (checkout.worktree === null) return null;
  if (made === null) {
    const known = (await supervisor.worktrees.records.list()).find(({ path }) => path === checkout.worktree);
    if (known === undefined) return null;
    const { path, branch, base } = known;
    return {
      path: stripTerminal(path),
      branch,
      is_new: base !== null,
      commit: null,
      base: viewBase(base),
      behind: null,
      changes: 0,
      notes: [],
    };
  }
  const { worktree, isNew, head, freshness, fetchedAt, changes, notes } = made;
  return {
    path: stripTerminal(worktree.path),
    branch: worktree.branch,
    is_new: isNew,
    commit: head,
    base: isNew ? viewBase(worktree.base) : null,
    behind:
      freshness === null
        ? null
        : {
            ref: freshness.ref,
            commits: freshness.behind,
            fetched_at: fetchedAt === null ? null : iso(fetchedAt),
          },
    changes,
    notes: notes.map(stripTerminal),
  };
}

export function viewBase(base: Base | null): z.infer<typeof madeWorktreeSchema>["base"] {
  if (base === null) return null;
  const { ref, commit, committedAt, source } = base;
  return { ref, commit, committed_at: iso(committedAt), source };
}
