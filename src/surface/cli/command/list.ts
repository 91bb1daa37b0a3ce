import type { Command } from "../command.ts";
import { sessionTable } from "../session-text.ts";

export const listCommand: Command = {
  name: "list",
  summary: "list sessions: what each does, asks, or died of",
  arguments: [],
  options: [
    { name: "all", summary: "those that were ended too" },
    { name: "role", value: "ROLE", summary: "only those of this role" },
  ],
  examples: [
    { line: "reeve list", does: "every session that was not ended" },
    { line: "reeve list --all --json", does: "everything that is known, for a program" },
  ],

  async run(input, context) {
    const role = input.text("role");
    const client = context.client();
    const request = { all: input.flag("all"), ...(role === undefined ? {} : { role }) };
    if (context.isJson) {
      // Passed on unread: parsing and printing a hundred sessions is a tenth of the whole command.
      context.output.passJson(await client.listSessionsBytes(request));
      return 0;
    }
    const listed = await client.listSessions(request);
    if (listed.sessions.length === 0) {
      context.output.note('No sessions. Start one with: reeve start practice "hello"');
      return 0;
    }
    context.output.print(await sessionTable(listed.sessions, context.output, Date.now()));
    return 0;
  },
};
