/** What agents ask right now, of one session or of all. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Approval } from "../session/approval.ts";
import type { Session } from "../session/session.ts";
import { defineOperation } from "./contract.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";

const approvalSchema = z.object({
  approval_id: z.string(),
  session_id: z.string(),
  session_name: z.string(),
  agent: z.string(),
  kind: z.enum(["command", "edit", "tool", "other"]),
  title: z.string(),
  /** The command, the file or the tool's input, in full. */
  subject: z.nullable(z.string()),
  cwd: z.nullable(z.string()),
  reason: z.nullable(z.string()),
  requested_at: z.string(),
  /** An answer that is on its way. */
  answer: z.nullable(z.enum(["approved", "denied"])),
  /** False: a dialog of the agent (trust this folder, log in): it is answered in the session itself, with attach. */
  answerable: z.boolean(),
});

export const listApprovals = defineOperation({
  name: "list_approvals",
  summary:
    "What agents ask before they go on: the command, the directory, the reason; also their own dialogs (trust this folder, log in), which are answered in the session. Oldest first.",
  method: "GET",
  path: "/v1/approvals",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  names: ["session"],
  input: z.object({ session: z.optional(sessionReference) }),
  output: z.object({ approvals: z.array(approvalSchema), cursor: z.number() }),

  async run(input, { store, scope }) {
    const sessions = input.session === undefined ? scope.sessions() : [resolveSession(store.registry, input.session)];
    const approvals = sessions.flatMap((session) => [
      ...session.approvals.map((approval) => viewApproval(session, approval)),
      ...dialogOf(session),
    ]);
    const oldestFirst = approvals.toSorted((one, other) => one.requested_at.localeCompare(other.requested_at));
    return { approvals: oldestFirst, cursor: store.log.head() };
  },
});

/** What a session asks besides approvals: a trust dialog, a log-in, a question of its own. */
function dialogOf(session: Session): readonly z.infer<typeof approvalSchema>[] {
  const { status, asks, evidence } = session.activity;
  if (status !== "awaiting-input" || session.exit !== null) return [];
  return [
    {
      approval_id: "dialog",
      session_id: session.id,
      session_name: session.name,
      agent: session.agent,
      kind: "other",
      title: stripTerminal(asks ?? "It asks for something; its screen shows what."),
      subject: null,
      cwd: stripTerminal(session.launch.cwd),
      reason: null,
      requested_at: iso(evidence.at),
      answer: null,
      answerable: false,
    },
  ];
}

function viewApproval(session: Session, approval: Approval): z.infer<typeof approvalSchema> {
  const safe = (text: string | null): string | null => (text === null ? null : stripTerminal(text));
  return {
    approval_id: approval.id,
    session_id: session.id,
    session_name: session.name,
    agent: session.agent,
    kind: approval.kind,
    title: stripTerminal(approval.title),
    subject: safe(approval.subject),
    cwd: safe(approval.cwd),
    reason: safe(approval.reason),
    requested_at: iso(approval.requestedAt),
    answer: approval.answer?.decision ?? null,
    answerable: true,
  };
}
