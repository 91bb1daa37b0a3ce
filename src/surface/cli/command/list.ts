import { answer } from "../answer.ts";
import type { CliContext, Command } from "../command.ts";
import { foreignTable } from "../foreign-text.ts";
import { sessionTable } from "../session-text.ts";

export const listCommand: Command = {
  name: "list",
  summary: "list sessions: what each does, asks, or died of",
  arguments: [],
  options: [
    { name: "all", summary: "those that were ended too" },
    { name: "foreign", summary: "agents of yours that Reeve did not start, and how to bring one under its care" },
    { name: "role", value: "ROLE", summary: "only those of this role" },
  ],
  examples: [
    { line: "reeve list", does: "every session that was not ended" },
    { line: "reeve list --all --json", does: "everything that is known, for a program" },
  ],

  async run(input, context) {
    if (input.flag("foreign")) return await listForeign(context);
    const role = input.text("role");
    const listed = await context
      .client()
      .listSessions({ all: input.flag("all"), ...(role === undefined ? {} : { role }) });
    if (listed.sessions.length === 0 && !context.isJson) {
      context.output.note('No sessions. Start one with: reeve start practice "hello"');
      return 0;
    }
    const table = context.isJson ? "" : await sessionTable(listed.sessions, context.output, Date.now());
    answer(context, listed, () => table);
    return 0;
  },
};

async function listForeign(context: CliContext): Promise<number> {
  const listed = await context.client().listForeign();
  if (listed.foreign.length === 0 && !context.isJson) {
    context.output.note("Reeve found no agent of yours that it did not start.");
    return 0;
  }
  const table = context.isJson ? "" : await foreignTable(listed.foreign, context.output);
  answer(context, listed, () => table);
  return 0;
}
