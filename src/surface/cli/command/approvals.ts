import { answer } from "../answer.ts";
import { approvalTable } from "../approval-text.ts";
import type { CliCommand } from "../command.ts";
import { oneLine } from "../session-text.ts";

export const approvalsCommand: CliCommand = {
  name: "approvals",
  summary: "show what agents ask before they go on: the command, the directory, the reason",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [],
  notes: [
    "Oldest first. Answer with reeve approve or reeve deny, or in the session itself.",
    "Dialogs of the agent itself are listed too. Some (trust this folder) are answered the same way; where it says so (log in), use reeve attach.",
  ],
  examples: [
    { line: "reeve approvals", does: "see what every session asks" },
    { line: "reeve approvals builder --json", does: "see what one session asks, as JSON for a program" },
  ],

  async run(input, context) {
    const [session] = input.arguments;
    const listed = await context.client().listApprovals(session === undefined ? {} : { session });
    if (listed.approvals.length === 0 && !context.isJson) {
      context.output.note(session === undefined ? "No session asks anything." : `${oneLine(session)} asks nothing.`);
      return 0;
    }
    const table = context.isJson ? "" : await approvalTable(listed.approvals, context.output, Date.now());
    answer(context, listed, () => table);
    return 0;
  },
};
