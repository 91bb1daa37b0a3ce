import type { CliCommand } from "../command.ts";

export const uninstallCommand: CliCommand = {
  name: "uninstall",
  summary: "end every session and remove the daemon, the tmux server and the service",
  arguments: [],
  options: [
    { name: "data", summary: "also delete the database, the logs and what sessions left behind" },
    { name: "yes", summary: "do it without asking" },
  ],
  notes: [
    "It shows what it will do and asks first. Your config.toml and rules are kept, and so is every file that Reeve did not write.",
    "Each end is proven, as with reeve end. If one cannot be proven, nothing is removed.",
    "The program itself is removed by npm: npm uninstall -g reeve",
  ],
  examples: [
    { line: "reeve uninstall", does: "see what would be removed, then decide" },
    { line: "reeve uninstall --data --yes", does: "remove everything without asking" },
  ],

  async run(input, context) {
    const { uninstall } = await import("../uninstall.ts");
    return await uninstall(context, { withData: input.flag("data"), isAgreed: input.flag("yes") });
  },
};
