/** Adds an item to the queue of work: checks all of it before it records anything. */
import * as z from "zod/mini";
import { newWorkId } from "../platform/ids.ts";
import { MOST_OPEN, MOST_OPEN_OF_SESSION, type WorkItem } from "../fleet/work.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { type Caller, callerName } from "../session/caller.ts";
import { defineOperation } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { checkedFields, workInput } from "./work-fields.ts";
import { resolveWork } from "./work-reference.ts";
import { viewWork, workSchema } from "./work-view.ts";

const { title, body, priority, dependencies, agent, role, branch, cwd, review, verify, retry_limit } = workInput;

export const addWork = defineOperation({
  name: "add_work",
  summary: "Add an item of work to the queue. It waits there until it is given to a session.",
  method: "POST",
  path: "/v1/work",
  effect: "change",
  callers: { operator: "any", session: "any" },
  example: { title: "Write the parser", body: "It reads one line at a time.", agent: "claude", priority: "high" },
  names: [],
  about: ["dependencies"],
  input: () =>
    z.object({
      title: title.check(z.describe("What is to be done, in one line.")),
      body: z._default(body, "").check(z.describe("All that its worker needs to know, up to 64 KB.")),
      priority: z
        ._default(priority, 0)
        .check(z.describe("-1000 to 1000, higher goes first; or high (10), normal (0) or low (-10).")),
      dependencies: z._default(dependencies, []).check(z.describe("Items that must be done first.")),
      agent: z.optional(agent).check(z.describe("The agent that must do it; by default any.")),
      role: z.optional(role).check(z.describe("The role that its worker gets.")),
      branch: z.optional(branch).check(z.describe("The git branch that it is done on.")),
      cwd: z.optional(cwd).check(z.describe("The directory it is done in.")),
      review: z
        ._default(review, "optional")
        .check(
          z.describe(
            "required: somebody must approve it before it is finalised. optional: a review is proposed. none: what is built counts as approved.",
          ),
        ),
      verify: z
        .optional(verify)
        .check(
          z.describe(
            "A command, as a list of words, that is run in the worker's directory; if it fails, the item is sent back.",
          ),
        ),
      retry_limit: z
        ._default(retry_limit, 2)
        .check(z.meta({ description: "How often it is given out again after a worker failed.", "x-unit": "times" })),
    }),
  output: () => workSchema,

  async run(input, context) {
    const { supervisor, caller, clock } = context;
    const workId = await idempotent(context, "add_work", async (record) => {
      requireQueueRoom(supervisor.work.open(), caller);
      const fields = await checkedFields(context, input);
      const id = newWorkId();
      const item = {
        body: input.body,
        priority: 0,
        dependencies: [],
        agent: null,
        role: null,
        branch: null,
        cwd: null,
        review: input.review,
        verify: null,
        retryLimit: input.retry_limit,
        title: input.title,
        ...fields,
        id,
        createdBy: callerName(caller),
        createdAt: clock.now(),
      };
      await supervisor.work.add(item, { caller, idempotency: record(id) });
      return id;
    });
    return await viewWork(context, await resolveWork(supervisor, workId));
  },
});

function requireQueueRoom(open: readonly WorkItem[], caller: Caller): void {
  const own = caller.kind === "session" ? open.filter(({ createdBy }) => createdBy === callerName(caller)).length : 0;
  const isOwn = own >= MOST_OPEN_OF_SESSION;
  if (!isOwn && open.length < MOST_OPEN) return;
  throw new ReeveError({
    code: "queue-full",
    kind: "conflict",
    message: isOwn
      ? `This session has added ${own} items that are still open, and may not add more; finish or cancel some of them.`
      : `The queue has ${open.length} open items and takes no more; finish or cancel some of them: reeve work list.`,
  });
}
