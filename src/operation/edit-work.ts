/** Changes what an item of work asks for, before somebody works on it. */
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { defineOperation } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { checkedFields, workInput } from "./work-fields.ts";
import { resolveWork, workReference } from "./work-reference.ts";
import { requireMayChange } from "./work-rights.ts";
import { viewWork, workSchema } from "./work-view.ts";

const { title, body, priority, dependencies, agent, role, branch, cwd, review, verify, retry_limit } = workInput;

export const editWork = defineOperation({
  name: "edit_work",
  summary: "Change an item of work that nobody works on. What is left out stays as it is; null takes a wish away.",
  method: "POST",
  path: "/v1/work/{work}/edit",
  effect: "change",
  callers: { operator: "any", session: "any" },
  example: { work: "work-k3v9xw2apq", priority: "low" },
  names: [],
  about: ["work"],
  input: () =>
    z.object({
      work: workReference,
      title: z.optional(title).check(z.describe("What is to be done, in one line.")),
      body: z.optional(body).check(z.describe("All that its worker needs to know, up to 64 KB.")),
      priority: z.optional(priority).check(z.describe("-1000 to 1000, or high, normal or low.")),
      dependencies: z.optional(dependencies).check(z.describe("Items that must be done first, all of them.")),
      agent: z.optional(z.nullable(agent)).check(z.describe("The agent that must do it; null: any.")),
      role: z.optional(z.nullable(role)).check(z.describe("The role that its worker gets; null: any.")),
      branch: z.optional(z.nullable(branch)).check(z.describe("The git branch that it is done on; null: any.")),
      cwd: z
        .optional(z.nullable(cwd))
        .check(z.describe("The directory it is done in; null: whoever gives it out says.")),
      review: z.optional(review).check(z.describe("Whether somebody must approve it: required, optional or none.")),
      verify: z.optional(z.nullable(verify)).check(z.describe("The command that verifies it; null: none.")),
      retry_limit: z
        .optional(retry_limit)
        .check(z.meta({ description: "How often it is given out again after a worker failed.", "x-unit": "times" })),
    }),
  output: () => workSchema,

  async run({ work, ...asked }, context) {
    const { supervisor, caller } = context;
    const workId = await idempotent(context, "edit_work", async (record) => {
      const item = await resolveWork(supervisor, work);
      requireMayChange(context, item, "edit");
      const fields = await checkedFields(context, asked);
      if (Object.keys(fields).length === 0) throw nothing();
      await supervisor.work.change(item.id, { type: "edit", fields }, { caller, idempotency: record(item.id) });
      return item.id;
    });
    return await viewWork(context, await resolveWork(supervisor, workId));
  },
});

function nothing(): ReeveError {
  return new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: "There is nothing to change; give at least one field, such as priority.",
  });
}
