/** Answers what an agent asks: recorded first, then given once, then verified in the agent. */
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { LoggedEvent } from "../session/event.ts";
import type { Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { firstEvent } from "./waiter.ts";
import { defineOperation } from "./contract.ts";
import { cursor, text, textOrNull } from "./field.ts";
import { idempotent } from "./idempotency.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

/** Longer than the supervisor takes to look for the question, answer it and verify that. */
const SETTLED_WITHIN_MS = 15_000;

const decisionSchema = z.enum(["approved", "denied"]);

export const answerApproval = defineOperation({
  name: "answer_approval",
  summary: "Approve or deny what an agent asks. The answer says whether it took effect in the agent.",
  method: "POST",
  path: "/v1/approvals",
  effect: "change",
  // Nobody gives itself permission: of a session's own questions others decide.
  callers: { operator: "any", session: "below" },
  example: { session: "fix", decision: "approved" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      approval_id: z
        .optional(z.string().check(z.minLength(1), z.maxLength(200)))
        .check(z.describe("Which question to answer. You may leave it out where the session asks one thing only.")),
      decision: decisionSchema.check(z.describe("Your answer.")),
    }),
  output: () =>
    z.object({
      approval_id: text("The question that was answered."),
      session_id: text("The session that asked it."),
      title: textOrNull("What was asked, in one line; null where the question was gone before."),
      state: z
        .enum(["settled", "pending", "failed"])
        .check(
          z.describe(
            "settled: the answer took effect in the agent. pending: it is on its way. failed: the agent still asks; `detail` says why.",
          ),
        ),
      decision: z
        .nullable(decisionSchema)
        .check(z.describe("The answer that took effect; null while none has, or where nobody could see it.")),
      by: textOrNull(
        "Who answered: `operator`, `session:<id>` or `system` through Reeve, `pane` for somebody in the terminal, or `agent`.",
      ),
      detail: textOrNull("How the outcome is known, or why there is none."),
      cursor: cursor("Pass it to `wait_for_session` as `since` to wait for what comes of this answer."),
    }),

  async run(input, context) {
    const { store, supervisor, caller } = context;
    const session = resolveSession(store.registry, input.session);
    const titles = new Map(session.conversation.approvals.map(({ id, title }) => [id, stripTerminal(title)]));
    const approvalId = await idempotent(context, "answer_approval", async (record) => {
      supervisor.requireUnimpeded(session);
      requireNoDialog(session, input.approval_id);
      const id = input.approval_id ?? onlyApproval(session);
      const command = { type: "answer", approvalId: id, decision: input.decision } as const;
      await supervisor.submit(session.id, command, { caller, idempotency: record(id) });
      return id;
    });
    const requestedAt = await requestOf(store, session.id, approvalId);
    const outcome = await firstEvent(
      context,
      { sessionId: session.id, after: requestedAt, types: ["approval-settled", "approval-answer-failed"] },
      ({ body }) => isOutcomeOf(body, approvalId),
      SETTLED_WITHIN_MS,
    );
    const title = titles.get(approvalId) ?? null;
    return {
      approval_id: approvalId,
      session_id: session.id,
      title,
      ...tell(outcome?.body ?? null),
      cursor: requestedAt,
    };
  },
});

/** Where in the log the answer was asked for, also if this call only repeats that. */
async function requestOf({ log }: Store, sessionId: string, approvalId: string): Promise<number> {
  const fits = (body: LoggedEvent["body"]): boolean =>
    body.type === "approval-answer-requested" && body.approvalId === approvalId;
  const request = await log.latest({ sessionId, types: ["approval-answer-requested"], fits });
  return request?.seq ?? 0;
}

function isOutcomeOf(body: LoggedEvent["body"], approvalId: string): boolean {
  return (body.type === "approval-settled" || body.type === "approval-answer-failed") && body.approvalId === approvalId;
}

function tell(outcome: LoggedEvent["body"] | null) {
  if (outcome?.type === "approval-settled")
    return {
      state: "settled" as const,
      decision: outcome.decision,
      by: outcome.by,
      detail: outcome.evidence.detail,
    };
  if (outcome?.type === "approval-answer-failed")
    return { state: "failed" as const, decision: null, by: null, detail: outcome.reason.text };
  return { state: "pending" as const, decision: null, by: null, detail: "The agent has not taken it yet." };
}

/** A dialog of the agent's own is no yes or no: which key means what is known only to whoever sees it. */
function requireNoDialog(session: Session, approvalId: string | undefined): void {
  const { activity, approvals } = session.conversation;
  const { status, asks } = activity;
  if (status !== "awaiting-input" || approvals.some(({ id }) => id === approvalId)) return;
  if (approvalId === undefined && approvals.length > 0) return;
  const { name } = session.identity;
  throw new ReeveError({
    code: "approval-not-answerable",
    kind: "conflict",
    message: `Session ${name} shows a dialog that only you can answer; go there with: reeve attach ${name}. It says: ${stripTerminal(asks ?? "see its screen")}`,
    details: { session_id: session.id },
  });
}

function onlyApproval(session: Session): string {
  const { conversation } = session;
  const [first, second] = conversation.approvals;
  if (first !== undefined && second === undefined) return first.id;
  const message =
    first === undefined
      ? `Session ${session.identity.name} asks nothing right now; see what is asked with: reeve approvals.`
      : `Session ${session.identity.name} asks ${conversation.approvals.length} things; say which: ${conversation.approvals.map(({ id, title }) => `${id} (${stripTerminal(title)})`).join(", ")}.`;
  throw new ReeveError({
    code: first === undefined ? "approval-stale" : "approval-ambiguous",
    kind: "conflict",
    message,
    details: { session_id: session.id },
  });
}
