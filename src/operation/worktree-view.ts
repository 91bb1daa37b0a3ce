/** A worktree of Reeve's as every surface shows it, and how one is named. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { type Saved, type Worktree } from "../fleet/worktree.ts";
import { listed, type Obstacle } from "../fleet/worktree-judgement.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { unknownWorktree, type WorktreeReport } from "../supervisor/worktree/worktrees.ts";
import type { OperationContext } from "./contract.ts";
import { count, instant, plainText, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { resolveAmong } from "./session-reference.ts";
import { iso } from "./session-view.ts";

export const worktreeReference = plainText().check(
  z.minLength(1, "a worktree"),
  z.maxLength(4_096),
  z.describe("A worktree: its id, its path, its branch, or the session that it was made for."),
);

export const savedSchema = z
  .object({
    ref: text("The ref that leads to it."),
    commit: text("The commit."),
    at: instant("When it was saved."),
  })
  .register(z.globalRegistry, { id: "SavedWork", description: "Work that was saved as a commit." });

export const obstacleSchema = whenUsed(() =>
  z
    .object({
      code: text("For programs: a stable word."),
      text: text("For people: a sentence."),
      savable: yesOrNo("Whether saving the work first puts it right."),
    })
    .register(z.globalRegistry, { id: "WorktreeObstacle", description: "Why a worktree is kept." }),
);

export const worktreeSchema = whenUsed(() =>
  z
    .object({
      worktree_id: text("Its id."),
      path: text("Where it is."),
      branch: text("The branch that it was made for."),
      repository: text("The main checkout of its repository."),
      session_id: text("The session that it was made for, or that used it last."),
      session: textOrNull("The name of that session; null where its start was not recorded."),
      in_use: yesOrNo("Whether a session that has not ended works in it."),
      changes: z
        .nullable(count("Files that are changed or new and not committed."))
        .check(z.describe("Files that are changed or new and not committed; null where it could not be looked at.")),
      unpushed: z
        .nullable(z.int())
        .check(z.describe("Commits that are neither pushed nor merged; null where it could not be looked at.")),
      state: z
        .enum(["making", "ready", "removing"])
        .check(z.describe("making and removing: under way, or cut short; Reeve finds that out by itself.")),
      removable: yesOrNo("Whether it would be removed if you asked."),
      kept_because: z.array(obstacleSchema).check(z.describe("Why it would be kept.")),
      saved: z.nullable(savedSchema).check(z.describe("The work of it that was saved last; null where none was.")),
      created_at: instant("When it was made."),
      problem: textOrNull("Why it could not be looked at; null where it could."),
    })
    .register(z.globalRegistry, { id: "Worktree", description: "A git worktree that Reeve made for a session." }),
);

export type WorktreeView = z.infer<typeof worktreeSchema>;

export function viewWorktree({ store }: OperationContext, report: WorktreeReport): WorktreeView {
  const { worktree, facts, problem, obstacles } = report;
  const { id, path, branch, main, sessionId, state, saved, createdAt } = worktree;
  return {
    worktree_id: id,
    path: stripTerminal(path),
    branch,
    repository: stripTerminal(main),
    session_id: sessionId,
    session: store.registry.get(sessionId)?.identity.name ?? null,
    in_use: (facts?.sessions.length ?? 0) > 0,
    changes: facts === null ? null : facts.changed + facts.unmerged + facts.untracked.length,
    unpushed: facts === null ? null : facts.merged === "no" ? facts.unpushed : 0,
    state,
    removable: facts !== null && obstacles.length === 0,
    kept_because: obstacles.map(viewObstacle),
    saved: viewSaved(saved),
    created_at: iso(createdAt),
    problem: problem === null ? null : stripTerminal(problem),
  };
}

export function viewObstacle({ code, text, isSavable }: Obstacle): z.infer<typeof obstacleSchema> {
  return { code, text: stripTerminal(text), savable: isSavable };
}

export function viewSaved(saved: Saved | null): z.infer<typeof savedSchema> | null {
  return saved === null ? null : { ref: saved.ref, commit: saved.commit, at: iso(saved.at) };
}

/** Those that this caller may see: a session those of the sessions it started, and its own. */
export async function worktreesInReach({
  supervisor,
  store,
  scope,
  caller,
}: OperationContext): Promise<readonly Worktree[]> {
  const all = await supervisor.worktrees.records.list();
  if (caller.kind !== "session") return all;
  return all.filter(({ sessionId }) => {
    const session = store.registry.get(sessionId);
    return session !== undefined && scope.has(session);
  });
}

export async function resolveWorktree(context: OperationContext, reference: string): Promise<Worktree> {
  const all = await worktreesInReach(context);
  const exact = all.filter(({ id, path }) => id === reference || path === reference.replace(/(?<=.)\/+$/, ""));
  const named = exact.length > 0 ? exact : all.filter(({ branch }) => branch === reference);
  if (named.length > 1)
    throw new ReeveError({
      code: "ambiguous-worktree",
      kind: "usage",
      message: `"${reference}" is the branch of ${named.length} worktrees; give the path: ${listed(named.map(({ path }) => path))}.`,
    });
  const [found] = named;
  if (found !== undefined) return found;
  const session = resolveSession(context, reference);
  const own = all.find(
    ({ path, sessionId }) => session !== null && (sessionId === session.id || path === session.checkout.worktree),
  );
  if (own === undefined) throw unknownWorktree(reference);
  return own;
}

function resolveSession({ store, scope }: OperationContext, reference: string) {
  try {
    return resolveAmong(store.registry, reference, (session) => scope.has(session));
  } catch (error) {
    if (error instanceof ReeveError && error.code === "unknown-session") return null;
    throw error;
  }
}
