/** The worktrees that Reeve made, each with what is in it and why it would be kept. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { viewWorktree, worktreeSchema, worktreesInReach } from "./worktree-view.ts";

export const listWorktrees = defineOperation({
  name: "list_worktrees",
  summary: "List the git worktrees that Reeve made for sessions, with what is in each and why it would be kept.",
  method: "GET",
  path: "/v1/worktrees",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () =>
    z.object({
      worktrees: z.array(worktreeSchema).check(z.describe("Those that there are, the oldest first.")),
    }),

  async run(_input, context) {
    const worktrees = [];
    // One after another: git reads every file of a checkout.
    for (const worktree of await worktreesInReach(context))
      worktrees.push(viewWorktree(context, await context.supervisor.worktrees.report(worktree)));
    return { worktrees };
  },
});
