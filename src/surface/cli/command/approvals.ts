import { answer } from "../answer.ts";
import { approvalTable } from "../approval-text.ts";
import type { CliCommand } from "../command.ts";
import { usage } from "../usage.ts";
import { oneLine } from "../session-text.ts";

export const approvalsCommand: CliCommand = {
  name: "approvals",
  summary: "show what agents ask before they go on: the command, the directory, the reason",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [{ name: "role", value: "ROLE", summary: "only what the sessions of this role ask" }],
  notes: [
    "Oldest first. Answer with reeve approve or reeve deny, or in the session itself.",
    "Dialogs of the agent itself are listed too. Some (trust this folder) are answered the same way; where it says so (log in), use reeve attach.",
  ],
  examples: [
    { line: "reeve approvals", does: "see what every session asks" },
    { line: "reeve approvals --role review", does: "see what the reviewers ask" },
    { line: "reeve approvals builder --json", does: "see what one session asks, as JSON for a program" },
  ],

  async run(input, context) {
    const [session] = input.arguments;
    const role = input.text("role");
    if (role !== undefined && session !== undefined)
      throw usage("role-and-names", "Give a session or --role, not both.");
    const wanted = { ...(session === undefined ? {} : { session }), ...(role === undefined ? {} : { role }) };
    const listed = await context.client().listApprovals(wanted);
    if (listed.approvals.length === 0 && !context.isJson) {
      const nobody =
        role === undefined ? "No session asks anything." : `No session of the role ${oneLine(role)} asks anything.`;
      context.output.note(session === undefined ? nobody : `${oneLine(session)} asks nothing.`);
      return 0;
    }
    const table = context.isJson ? "" : await approvalTable(listed.approvals, context.output, Date.now());
    answer(context, listed, () => table);
    return 0;
  },
};
