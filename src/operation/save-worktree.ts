/** Saves the work in a worktree as a commit; nothing in the worktree changes. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { text } from "./field.ts";
import { resolveWorktree, savedSchema, worktreeReference } from "./worktree-view.ts";
import { iso } from "./session-view.ts";
import { stripTerminal } from "../platform/terminal-text.ts";

export const saveWorktree = defineOperation({
  name: "save_worktree",
  summary:
    "Save everything in a worktree that is not committed or not pushed as one commit under refs/reeve/<session>. The worktree itself does not change.",
  method: "POST",
  path: "/v1/worktrees/save",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { worktree: "builder" },
  names: [],
  about: ["worktree"],
  input: () => z.object({ worktree: worktreeReference }),
  output: () => z.extend(savedSchema, { path: text("The worktree.") }),

  async run(input, context) {
    const { id, path } = await resolveWorktree(context, input.worktree);
    const { ref, commit, at } = await context.supervisor.worktrees.save(id, { caller: context.caller });
    return { path: stripTerminal(path), ref, commit, at: iso(at) };
  },
});
