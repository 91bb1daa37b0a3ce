/**
 * The newest lines of a pane as plain text. What is on a screen is the
 * agent's: it is read by a line count that tmux gives first (control-parser
 * says why) and stripped before anyone sees it.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Screen } from "../contract.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import { quote } from "./quote.ts";

/** Both in one line: nothing can be printed between the count and the capture. */
export function captureCommands(paneId: string, lines: number): readonly ControlCommand[] {
  return [
    { text: `display-message -p -t ${paneId} ${quote("screen #{history_size} #{pane_height} #{pane_title}")}` },
    {
      text: `capture-pane -p -t ${paneId} -S ${lines === 0 ? "0" : `-${lines}`}`,
      bodyLines: (earlier) => {
        const size = parseSize(earlier[0]?.lines[0]);
        return Math.min(lines, size.history) + size.height;
      },
    },
  ];
}

export function readScreen(answer: Answer, lines: number): Screen {
  const size = parseSize(answer.replies[0]?.lines[0]);
  const all = (answer.replies[1]?.lines ?? []).map((line) => stripTerminal(line).trimEnd());
  while (all.at(-1) === "") all.pop();
  const { title } = size;
  if (lines === 0) return { text: all.join("\n"), title, truncated: size.history > 0 };
  const isCut = all.length > lines;
  return { text: all.slice(-lines).join("\n"), title, truncated: isCut || size.history > lines };
}

/** The title is the agent's: last in the line, behind what is tmux's own. */
function parseSize(line: string | undefined): {
  readonly history: number;
  readonly height: number;
  readonly title: string;
} {
  const match = /^screen (\d+) (\d+) (.*)$/.exec(line ?? "");
  if (match === null) throw new Error("tmux did not say how large the screen is");
  return { history: Number(match[1]), height: Number(match[2]), title: stripTerminal(match[3] ?? "") };
}
