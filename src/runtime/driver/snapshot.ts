/**
 * What is on the screen of a pane, colours included. tmux sends output and
 * answers to a control client in one order, so output before that answer is in
 * the snapshot and output after it is not.
 */
import type { Clock } from "../../platform/clock.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Target } from "../contract.ts";
import type { TerminalSnapshot } from "../terminal.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import type { Connected, PaneDirectory, PaneSighting } from "./pane-directory.ts";
import { quote } from "./quote.ts";

export interface Snapshots {
  /** Its pane, while its process runs. */
  running(target: Target): Promise<PaneSighting & { readonly connected: Connected }>;
  /** Told before anything that tmux printed later is; what it prints later is passed on. Rejects where it does not run. */
  take(target: Target, tell: (snapshot: TerminalSnapshot) => void): Promise<void>;
}

/** Output is linked within milliseconds. */
const LINK_LOOK_MS = 10;
const LINK_LOOKS = 200;

export function createSnapshots(parts: { readonly directory: PaneDirectory; readonly clock: Clock }): Snapshots {
  const running: Snapshots["running"] = async (target) => {
    const found = await parts.directory.require(target);
    if (found.presence.status === "running") return found;
    throw new ReeveError({
      code: "not-running",
      kind: "conflict",
      message: `Session ${target.sessionId} is not running; restart it first.`,
    });
  };

  const untilLinked: Snapshots["running"] = async (target) => {
    for (let look = 1; ; look += 1) {
      const found = await running(target);
      if (found.pane.isLinked) return found;
      if (look === LINK_LOOKS) throw new Error("its output is not passed on");
      await parts.clock.sleep(LINK_LOOK_MS);
    }
  };

  return {
    running,
    async take(target, tell) {
      const { pane, connected } = await untilLinked(target);
      const answer = await connected.connection.request(snapshotCommands(pane.id), (early) => {
        const snapshot = readSnapshot(early);
        if (snapshot !== null) tell(snapshot);
      });
      if (readSnapshot(answer) === null) throw new Error(answer.error ?? "tmux did not show the screen");
    },
  };
}

const FORMAT =
  "view #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{keypad_cursor_flag}";
const PATTERN = /^view (\d+) (\d+) (\d+) (\d+) ([01]) ([01]) ([01])$/;

/** In one line, so that nothing can be printed in between. */
function snapshotCommands(paneId: string): readonly ControlCommand[] {
  const bodyLines = (earlier: Answer["replies"]): number => Number(PATTERN.exec(earlier[0]?.lines[0] ?? "")?.[2] ?? 0);
  return [
    { text: `display-message -p -t ${paneId} ${quote(FORMAT)}` },
    { text: `capture-pane -p -e -S 0 -t ${paneId}`, bodyLines },
  ];
}

/** Cleared, drawn line by line, and the cursor put where it is. */
function readSnapshot({ replies, error }: Answer): TerminalSnapshot | null {
  const match = PATTERN.exec(replies[0]?.lines[0] ?? "");
  if (match === null || error !== null) return null;
  const [, width, height, column, row, cursor, alternate, keypad] = match;
  const drawn = [
    alternate === "1" ? "\u001b[?1049h" : "\u001b[?1049l",
    keypad === "1" ? "\u001b[?1h" : "\u001b[?1l",
    "\u001b[0m\u001b[2J\u001b[H",
    (replies[1]?.lines ?? []).join("\r\n"),
    `\u001b[0m\u001b[${Number(row) + 1};${Number(column) + 1}H`,
    cursor === "1" ? "\u001b[?25h" : "\u001b[?25l",
  ];
  const size = { columns: Number(width), rows: Number(height) };
  return { type: "snapshot", bytes: Buffer.from(drawn.join("")), size };
}

export function sizeCommand(paneId: string): ControlCommand {
  return { text: `display-message -p -t ${paneId} ${quote("size #{pane_width} #{pane_height}")}` };
}

export function readSize({ replies }: Answer): TerminalSnapshot["size"] | null {
  const [, columns, rows] = /^size (\d+) (\d+)$/.exec(replies[0]?.lines[0] ?? "") ?? [];
  return columns === undefined ? null : { columns: Number(columns), rows: Number(rows) };
}
