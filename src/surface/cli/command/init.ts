import type { CliCommand } from "../command.ts";

export const initCommand: CliCommand = {
  name: "init",
  summary: "let an agent that you start yourself use Reeve (MCP)",
  arguments: [{ name: "agent", completion: ["claude", "codex", "gemini"] }],
  options: [
    { name: "project", summary: "only in this directory; of codex, only the files in this repository" },
    { name: "skill", summary: "also install the skill that teaches the agent to work with Reeve" },
    { name: "undo", summary: "take back what reeve init did, and nothing else" },
    { name: "yes", summary: "do it without asking" },
  ],
  notes: [
    "reeve init codex in a git repository also writes .codex/HARNESS_RESTART.md, a card that Codex reads after its harness restarted, and adds one line to .codex/CODEX.md that points to it. It changes no other file there. A card that you edited stays as it is.",
    "Sessions that Reeve starts have Reeve's MCP server anyway. This is for agents that you start without Reeve.",
    "Such an agent acts for you: it can start, read, write to and end all your sessions. Inside a session of Reeve an agent can do so only with what it started itself.",
    "It shows first what will change, and uses the agent's own command to register Reeve. If you run it twice, the second time changes nothing.",
    "--undo gives back the very bytes that the agent's file had before, if nobody changed it since (init.json in Reeve's home remembers how). If it was changed, only Reeve's own entry is taken out, and every other byte stays; a table or a file that reeve init made goes if nothing else is in it.",
  ],
  examples: [
    { line: "reeve init claude --skill", does: "Claude Code gets Reeve's tools, and a skill that explains them" },
    { line: "reeve init codex --yes", does: "the same for Codex, without being asked" },
    { line: "reeve init codex --project --yes", does: "only the restart card and its line, in this repository" },
    { line: "reeve init gemini --undo", does: "take it back" },
  ],

  async run(input, context) {
    const { init } = await import("../init/init.ts");
    return await init(context, {
      agent: input.arguments[0] ?? "",
      scope: input.flag("project") ? "project" : "user",
      withSkill: input.flag("skill"),
      isUndo: input.flag("undo"),
      isAgreed: input.flag("yes"),
    });
  },
};
