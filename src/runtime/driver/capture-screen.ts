/**
 * The newest lines of a pane as plain text. The agent controls what is on the
 * screen. So it is read by a line count that tmux gives first
 * (control-parser.ts says why), and escape sequences are stripped before
 * anybody sees it.
 */
import { keepStyles } from "../../platform/terminal-style.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Screen } from "../contract.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import { quote } from "./quote.ts";
import { solidLines } from "./solid-lines.ts";

const FORMAT = "screen #{history_size} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_title}";

/** Both in one line: nothing can be printed between the count and the capture. How text is drawn is asked only of the visible screen. */
export function captureCommands(paneId: string, lines: number): readonly ControlCommand[] {
  return [
    { text: `display-message -p -t ${paneId} ${quote(FORMAT)}` },
    {
      text: `capture-pane -p ${lines === 0 ? "-e -S 0" : `-S -${lines}`} -t ${paneId}`,
      bodyLines: (earlier) => {
        const about = parseAbout(earlier[0]?.lines[0]);
        return Math.min(lines, about.history) + about.height;
      },
    },
  ];
}

export function readScreen(answer: Answer, lines: number, style?: "ansi"): Screen {
  const { title, history, cursor } = parseAbout(answer.replies[0]?.lines[0]);
  const raw = answer.replies[1]?.lines ?? [];
  const all = raw.map((line) => stripTerminal(line).trimEnd());
  while (all.at(-1) === "") all.pop();
  if (lines === 0) {
    const solid = solidLines(raw, cursor).slice(0, all.length).join("\n");
    const screen = { text: all.join("\n"), solid, title, truncated: history > 0 };
    return style === undefined ? screen : { ...screen, drawn: keepStyles(raw.slice(0, all.length).join("\n")) };
  }
  const text = all.slice(-lines).join("\n");
  return { text, solid: text, title, truncated: all.length > lines || history > lines };
}

/** The title is the agent's: last in the line, behind what is tmux's own. */
function parseAbout(line: string | undefined): {
  readonly history: number;
  readonly height: number;
  readonly cursor: { readonly column: number; readonly row: number; readonly isVisible: boolean };
  readonly title: string;
} {
  const match = /^screen (\d+) (\d+) (\d+) (\d+) ([01]) (.*)$/.exec(line ?? "");
  if (match === null) throw new Error("tmux did not say how large the screen is");
  const [, history, height, column, row, flag, title = ""] = match;
  return {
    history: Number(history),
    height: Number(height),
    cursor: { column: Number(column), row: Number(row), isVisible: flag === "1" },
    title: stripTerminal(title),
  };
}
