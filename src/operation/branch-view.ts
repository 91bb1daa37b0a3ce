/** What every surface shows of the branch of a session's checkout, and of what git says of the checkout. */
import * as z from "zod/mini";
import { BRANCH_POLICIES } from "../session/branch-policy.ts";
import { count, instant, instantOrNull, textOrNull, whenUsed } from "./field.ts";

export const branchPolicy = z.enum(BRANCH_POLICIES);

export const branchSchema = whenUsed(() =>
  z
    .object({
      declared: textOrNull("The git branch that was asked for; null where none was."),
      actual: textOrNull(
        "The branch that is checked out where it works; null where none is, or where that is no checkout.",
      ),
      commit: textOrNull("The commit that is checked out; null until somebody has asked git."),
      under_way: textOrNull(
        "What took the checkout off its branch for a while, such as a rebase; null where nothing did.",
      ),
      mismatch_since: instantOrNull(
        "Since when another branch is checked out than was declared; null while they agree.",
      ),
      policy: branchPolicy.check(
        z.describe(
          "What Reeve does then. warn: nothing more. pause: it pauses the session. error: it gives it no messages.",
        ),
      ),
    })
    .check(z.describe("The git branch it works on.")),
);

export const gitSchema = whenUsed(() =>
  z
    .nullable(
      z.object({
        ahead: z
          .nullable(z.int())
          .check(z.describe("Commits that its upstream branch does not have; null without one.")),
        behind: z.nullable(z.int()).check(z.describe("Commits that only its upstream branch has; null without one.")),
        dirty: count("Files with changes that are not committed, untracked ones included."),
        as_of: instant("When git was asked."),
      }),
    )
    .check(
      z.describe(
        "What git says of its checkout, asked in the background when somebody looks; null until that is known.",
      ),
    ),
);
