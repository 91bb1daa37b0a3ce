import { isatty } from "node:tty";
import { callerEnvironment } from "../caller-environment.ts";
import { parseLine } from "../command-line.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { attachCommand } from "./attach.ts";

export const boardCommand: CliCommand = {
  name: "board",
  handsOver: true,
  summary: "see all sessions live and answer them with single keys; reeve without a command opens it too",
  arguments: [],
  options: [],
  notes: [
    "Sessions are ordered by who needs you: those that ask, those that failed, those that finished, those at work, the idle ones. ? shows the keys.",
    "Leave it with q; every session goes on.",
  ],
  examples: [{ line: "reeve board", does: "the same as reeve without a command" }],

  async run(_input, context) {
    const missing = whyNoBoard(context.environment);
    if (missing !== null) throw usage("not-a-terminal", `${missing} Use reeve list, or reeve events --follow.`);
    const { runBoard } = await import("../../board/board.ts");
    const own = { surface: "board", onNotice: (): void => undefined } as const;
    await runBoard({
      client: context.client(own),
      watcher: context.client({ ...own, autostart: "after-crash" }),
      hasColour: context.output.hasColour,
      isUnicode: isUnicode(context.environment),
      here: () => ({ cwd: context.cwd(), environment: callerEnvironment(context) }),
      attach: (session) => attachCommand.run(parseLine(attachCommand, [session]).input, { ...context, isJson: false }),
    });
    return 0;
  },
};

/** Null where the board can be shown. */
export function whyNoBoard(environment: CliContext["environment"]): string | null {
  if (!isatty(0) || !isatty(1)) return "The board needs a terminal, and this is not one.";
  if (environment["TERM"] === "dumb") return "The board needs a terminal that can move its cursor, and TERM is dumb.";
  return null;
}

function isUnicode(environment: CliContext["environment"]): boolean {
  const locale = [environment["LC_ALL"], environment["LC_CTYPE"], environment["LANG"]].find(
    (value) => (value ?? "") !== "",
  );
  return /utf-?8/i.test(locale ?? "");
}
