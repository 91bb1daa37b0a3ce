/** What agents ask right now, of one session or of all. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Approval } from "../session/approval.ts";
import type { Session } from "../session/session.ts";
import { answerApproval } from "./answer-approval.ts";
import { defineOperation } from "./contract.ts";
import { cursor, instant, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { scopeOf } from "./scope.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";

const approvalSchema = whenUsed(() =>
  z
    .object({
      approval_id: text("The question; unique within its session."),
      session_id: text("The session that asks."),
      session_name: text("The name of that session."),
      agent: text("The agent that runs in it."),
      kind: z.enum(["command", "edit", "tool", "other"]).check(z.describe("What kind of thing it wants to do.")),
      title: text("What is asked, in one line."),
      subject: textOrNull("The command, the file or the tool's input, in full; null where it is not known."),
      cwd: textOrNull("The directory in which it would be done; null where it is not known."),
      reason: textOrNull("Why, in the agent's words; null where it gave none."),
      requested_at: instant("Since when it asks."),
      answer: z
        .nullable(z.enum(["approved", "denied"]))
        .check(z.describe("An answer that is on its way; null while nobody has answered.")),
      choices: z
        .nullable(
          z.object({
            approved: text("What `approved` chooses."),
            denied: text("What `denied` chooses, and what that does to the session where the dialog does not say it."),
          }),
        )
        .check(
          z.describe("Of a dialog on the agent's screen (trust this folder?): its choices, in its words; else null."),
        ),
      answerable: yesOrNo(
        "Whether you can answer it with `answer_approval`. A log-in, and any other dialog that keys alone cannot answer, is answered in the session; and a session does not answer its own questions.",
      ),
      how_to_answer: textOrNull(
        "Where to answer what you cannot answer with `answer_approval`, in a sentence; else null.",
      ),
    })
    .register(z.globalRegistry, { id: "Approval", description: "A question that an agent puts before it goes on." }),
);

export const listApprovals = defineOperation({
  name: "list_approvals",
  summary:
    "What agents ask before they go on: the command, the directory, the reason; also their own dialogs: trust this folder, log in. Oldest first.",
  method: "GET",
  path: "/v1/approvals",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () =>
    z.object({
      session: z.optional(sessionReference).check(z.describe("Only what this session asks; its id or name.")),
      role: z.optional(z.string()).check(z.describe("Only what the sessions with this role ask.")),
    }),
  output: () =>
    z.object({
      approvals: z.array(approvalSchema).check(z.describe("What is asked right now, oldest first.")),
      cursor: cursor("The newest event. Pass it to `read_events` as `since` to read what happened after this answer."),
    }),

  async run(input, { store, scope, caller }) {
    const answerable = scopeOf(store.registry, caller, answerApproval.callers);
    const sessions = input.session === undefined ? scope.sessions() : [resolveSession(store.registry, input.session)];
    const asking = sessions.filter(({ identity }) => input.role === undefined || identity.role === input.role);
    const approvals = asking.flatMap((session) => [
      ...session.conversation.approvals.map((approval) => viewApproval(session, approval, answerable.has(session))),
      ...dialogOf(session),
    ]);
    const oldestFirst = approvals.toSorted((one, other) => one.requested_at.localeCompare(other.requested_at));
    return { approvals: oldestFirst, cursor: store.log.head() };
  },
});

/** What a session asks besides approvals: a log-in, a question of its own. */
function dialogOf(session: Session): readonly z.infer<typeof approvalSchema>[] {
  const { status, asks, evidence } = session.conversation.activity;
  if (status !== "awaiting-input" || session.process.exit !== null) return [];
  return [
    {
      approval_id: "dialog",
      session_id: session.id,
      session_name: session.identity.name,
      agent: session.identity.agent,
      kind: "other",
      title: stripTerminal(asks ?? "It asks for something; its screen shows what."),
      subject: null,
      cwd: stripTerminal(session.identity.launch.cwd),
      reason: null,
      requested_at: iso(evidence.at),
      answer: null,
      choices: null,
      answerable: false,
      how_to_answer: `Answer it in the session: reeve attach ${session.identity.name}.`,
    },
  ];
}

function viewApproval(session: Session, approval: Approval, isAnswerable: boolean): z.infer<typeof approvalSchema> {
  const safe = (text: string | null): string | null => (text === null ? null : stripTerminal(text));
  return {
    approval_id: approval.id,
    session_id: session.id,
    session_name: session.identity.name,
    agent: session.identity.agent,
    kind: approval.kind,
    title: stripTerminal(approval.title),
    subject: safe(approval.subject),
    cwd: safe(approval.cwd),
    reason: safe(approval.reason),
    requested_at: iso(approval.requestedAt),
    answer: approval.answer?.decision ?? null,
    choices:
      approval.choices === null
        ? null
        : { approved: stripTerminal(approval.choices.approved), denied: stripTerminal(approval.choices.denied) },
    answerable: isAnswerable,
    how_to_answer: isAnswerable ? null : "The operator answers it, or a session above yours that started it.",
  };
}
