/** Everything that happens to an item of work after it was added, but for giving it out: start_session and send_message do that. */
import * as z from "zod/mini";
import type { WorkChange } from "../fleet/work-change.ts";
import type { WorkItem } from "../fleet/work.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Caller } from "../session/caller.ts";
import { defineOperation } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { requireText } from "./work-fields.ts";
import { resolveWork, workReference } from "./work-reference.ts";
import { requireMayChange } from "./work-rights.ts";
import { viewWork, workSchema } from "./work-view.ts";

/** What somebody may say of an item. */
export const WORK_VERBS = [
  "built",
  "verified",
  "approve",
  "request-changes",
  "finalise",
  "done",
  "fail",
  "cancel",
  "retry",
  "release",
] as const;
type WorkVerb = (typeof WORK_VERBS)[number];

export const changeWork = defineOperation({
  name: "change_work",
  summary:
    "Say what happened to an item of work: its worker built it, a review approved it or asked for changes, it is done, it failed, or it is to be tried again.",
  method: "POST",
  path: "/v1/work/{work}/change",
  effect: "change",
  callers: { operator: "any", session: "any" },
  example: { work: "work-k3v9xw2apq", change: "built", text: "The parser reads lines; tests pass." },
  names: [],
  about: ["work", "change"],
  input: () =>
    z.object({
      work: workReference,
      change: z
        .enum(WORK_VERBS)
        .check(
          z.describe(
            "built: the worker is done with it. verified: its verification command ended; `exit_code` decides. approve, request-changes: what a review decided. finalise: it is where it belongs, such as merged. done: it is over. fail: it cannot be done. cancel: it is not wanted. retry: once more from the start. release: the worker gives it back.",
          ),
        ),
      text: z
        .optional(z.string())
        .check(
          z.describe("What was done, what is to be changed, or why: fail and request-changes need it. Up to 64 KB."),
        ),
      commits: z
        ._default(
          z
            .array(z.string().check(z.regex(/^[0-9a-f]{7,64}$/, "a commit: 7 to 64 hexadecimal digits")))
            .check(z.maxLength(100)),
          [],
        )
        .check(z.describe("Commits that belong to it; of a review, the one that was looked at.")),
      exit_code: z
        .optional(z.nullable(z.int().check(z.minimum(0), z.maximum(255))))
        .check(z.describe("With verified: how the command ended; null where it did not end by itself.")),
      revision: z
        .optional(z.int().check(z.minimum(1)))
        .check(z.describe("Only if the item still has this revision (of `plan_work`); otherwise it is refused.")),
    }),
  output: () => workSchema,

  async run(input, context) {
    const { supervisor, caller } = context;
    const workId = await idempotent(context, "change_work", async (record) => {
      if (input.text !== undefined) requireText(context, input.text);
      const { id } = await resolveWork(supervisor, input.work);
      const decide = (item: WorkItem) => {
        requireMayChange(context, item, input.change);
        if (input.revision !== undefined && input.revision !== item.revision) throw hasChanged(item);
        return changeOf(input, item, caller);
      };
      await supervisor.work.change(id, decide, { caller, idempotency: record(id) });
      return id;
    });
    return await viewWork(context, await resolveWork(supervisor, workId));
  },
});

interface Said {
  readonly change: WorkVerb;
  readonly text?: string | undefined;
  readonly commits: readonly string[];
  readonly exit_code?: number | null | undefined;
}

function changeOf(
  { change, text, commits, exit_code: exitCode }: Said,
  item: WorkItem,
  caller: Caller,
): Exclude<WorkChange, { readonly type: "edit" }> {
  switch (change) {
    case "built": {
      const sessionId = caller.kind === "session" && item.sessions.includes(caller.id) ? caller.id : null;
      return { type: "built", text: text ?? "", sessionId, commits };
    }
    case "verified":
      if (exitCode === undefined) throw missingExitCode();
      return { type: "verified", verification: { exitCode, text: text ?? "" }, commit: commits.at(-1) ?? null };
    case "approve":
      return { type: "approve", text: text ?? "", commit: commits.at(-1) ?? null };
    case "request-changes":
      return { type: "request-changes", text: needed(text, change), commit: commits.at(-1) ?? null };
    case "finalise":
      return { type: "finalise", commits };
    case "done":
      return { type: "done", text: text ?? null, commits };
    case "fail":
      return { type: "fail", why: needed(text, change) };
    case "cancel":
      return { type: "cancel", why: text ?? "It is not wanted any more." };
    case "release":
      return { type: "release", why: text ?? "It was given back." };
    case "retry":
      return { type: "retry" };
  }
}

function hasChanged({ id, state }: WorkItem): ReeveError {
  return new ReeveError({
    code: "work-changed",
    kind: "conflict",
    message: `${id} has changed meanwhile and is ${state} now; look at it again: reeve work show ${id}.`,
    details: { state },
  });
}

function missingExitCode(): ReeveError {
  return new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: "exit_code is missing; give the exit status of the verification command, or null if it did not end.",
    details: { field: "exit_code" },
  });
}

function needed(text: string | undefined, change: WorkVerb): string {
  if (text !== undefined && text.trim() !== "") return text;
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: change === "fail" ? "text is missing; say why it failed." : "text is missing; say what is to be changed.",
    details: { field: "text" },
  });
}
