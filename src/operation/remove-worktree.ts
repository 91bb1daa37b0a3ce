/** Removes a worktree that Reeve made, if nothing of it can be lost; otherwise it is kept, and the answer says why. */
import * as z from "zod/mini";
import type { Removal } from "../supervisor/worktree/removal.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { idempotent } from "./idempotency.ts";
import {
  obstacleSchema,
  resolveWorktree,
  savedSchema,
  viewObstacle,
  viewSaved,
  worktreeReference,
} from "./worktree-view.ts";

const removalSchema = whenUsed(() =>
  z.object({
    removed: yesOrNo("False: it is kept."),
    path: text("The worktree."),
    kept_because: z.array(obstacleSchema).check(z.describe("Why it is kept; empty where it was removed.")),
    saved: z.nullable(savedSchema).check(z.describe("The work that was saved; null where nothing had to be.")),
    branch: textOrNull("What became of its branch, in a sentence; null where you did not ask to delete it."),
    dropped: z
      .array(z.string())
      .check(z.describe("Ignored directories that were deleted with it, such as node_modules/.")),
  }),
);

export const removeWorktree = defineOperation({
  name: "remove_worktree",
  summary:
    "Remove a worktree that Reeve made. It is kept unless it is clean, everything is pushed or merged, and nobody works in it; the answer says why. With `save` its work is saved first.",
  method: "POST",
  path: "/v1/worktrees/remove",
  effect: "end",
  callers: { operator: "any", session: "descendants" },
  example: { worktree: "builder", save: true },
  names: [],
  about: ["worktree"],
  input: () =>
    z.object({
      worktree: worktreeReference,
      save: z
        ._default(z.boolean(), false)
        .check(z.describe("Whether to save first what would be lost, as a commit under refs/reeve/<session>.")),
      delete_branch: z
        ._default(z.boolean(), false)
        .check(z.describe("Whether to delete its branch, too, if Reeve made it and it is pushed or merged.")),
    }),
  output: () => removalSchema,

  async run(input, context) {
    const { worktrees } = context.supervisor;
    const request = { save: input.save, deleteBranch: input.delete_branch };
    const { caller } = context;
    let path = input.worktree;
    let removal: Removal | null = null;
    const id = await idempotent(context, "remove_worktree", async (record) => {
      const found = await resolveWorktree(context, input.worktree);
      ({ path } = found);
      removal = await worktrees.remove(found.id, request, { caller, idempotency: record(found.id) });
      return found.id;
    });
    // A repeat: what the first request did not finish is done now.
    removal ??= await worktrees.remove(id, request, { caller });
    return viewRemoval(path, removal);
  },
});

function viewRemoval(path: string, removal: Removal): z.infer<typeof removalSchema> {
  return {
    removed: removal.isRemoved,
    path: stripTerminal(path),
    kept_because: removal.obstacles.map(viewObstacle),
    saved: viewSaved(removal.saved),
    branch: removal.branch === null ? null : stripTerminal(removal.branch.why),
    dropped: removal.dropped.map(stripTerminal),
  };
}

/** For whoever ends a session: a sentence about its worktree. The session has ended, whatever becomes of that. */
export async function removedWorktree(context: OperationContext, sessionId: string): Promise<string> {
  const { store, supervisor, caller } = context;
  const session = store.registry.get(sessionId);
  const path = session?.checkout.worktree ?? null;
  const known = (await supervisor.worktrees.records.list()).find((one) => one.path === path);
  if (path === null) return "Reeve made no worktree for it, so none was removed.";
  if (known === undefined) return `Its worktree ${path} was removed before.`;
  try {
    const removal = await supervisor.worktrees.remove(known.id, { save: false, deleteBranch: false }, { caller });
    return stripTerminal(removalSentence(path, removal, session?.identity.name ?? sessionId));
  } catch (error) {
    return stripTerminal(`Its worktree ${path} is kept. ${messageOf(error)}`);
  }
}

function removalSentence(path: string, { isRemoved, obstacles }: Removal, name: string): string {
  if (isRemoved) return `Its worktree ${path} was removed.`;
  const isSavable = obstacles.every((obstacle) => obstacle.isSavable);
  const save = isSavable ? ` To save that and remove it: reeve worktree remove ${name} --save` : "";
  return `Its worktree ${path} is kept. ${obstacles.map(({ text: why }) => why).join(" ")}${save}`;
}
