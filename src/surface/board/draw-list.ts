/** The list of sessions as lines: one row each, with the columns that the width allows. Pure. */
import { age } from "./age.ts";
import { cutLine, fillLine, span } from "./line.ts";
import type { Line } from "./line.ts";
import { NEED_TONES, styleOf } from "./look.ts";
import type { Look } from "./look.ts";
import type { Board } from "./model.ts";
import type { Row } from "./row.ts";

/** Narrower than this, the agent and the branch are only in the preview. */
const ROOMY = 68;
const LONGEST = { name: 20, agent: 10, branch: 16 } as const;
/** Narrower, a line says too little to be worth a name in full. */
const LONGEST_NARROW_NAME = 14;

export function drawList(
  rows: readonly Row[],
  { selectedAt, picked }: Pick<Board, "selectedAt" | "picked">,
  { columns, height }: { readonly columns: number; readonly height: number },
  look: Look,
  now: number,
): readonly Line[] {
  const widths = widthsOf(rows, columns, look);
  return shownIn(rows, selectedAt, height).map((row) => {
    if (row === null) return cutLine([span(FOREIGN_HEADING, styleOf("quiet", look))], columns, look.ruler);
    const isChosen = row === rows[selectedAt];
    const line = drawRow(row, widths, { isChosen, isPicked: picked.has(row.id) }, look, now);
    return isChosen ? fillLine(line, columns, look.ruler, styleOf("chosen", look)) : cutLine(line, columns, look.ruler);
  });
}

const FOREIGN_HEADING = "Not started by Reeve:";

/** The rows, with null where the heading of those that Reeve did not start stands. */
export function withHeading(rows: readonly Row[]): readonly (Row | null)[] {
  const at = rows.findIndex(({ need }) => need === "foreign");
  return at === -1 ? rows : [...rows.slice(0, at), null, ...rows.slice(at)];
}

/** What there is room for. The selected one is kept in the middle, as far as there is something above and below. */
export function shownIn(rows: readonly Row[], selectedAt: number, height: number): readonly (Row | null)[] {
  const all = withHeading(rows);
  const at = all.indexOf(rows[selectedAt] ?? null);
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), all.length - height));
  return all.slice(first, first + height);
}

interface Widths {
  readonly name: number;
  readonly agent: number;
  readonly word: number;
  readonly branch: number;
}

function widthsOf(rows: readonly Row[], columns: number, { ruler }: Look): Widths {
  const widest = (texts: readonly string[], most: number): number =>
    Math.min(most, Math.max(0, ...texts.map((text) => ruler.width(text))));
  const isRoomy = columns >= ROOMY;
  return {
    name: widest(
      rows.map(({ name }) => name),
      isRoomy ? LONGEST.name : LONGEST_NARROW_NAME,
    ),
    agent: isRoomy
      ? widest(
          rows.map(({ agent }) => agent),
          LONGEST.agent,
        )
      : 0,
    word: widest(
      rows.map(({ word }) => word),
      columns,
    ),
    branch: isRoomy
      ? widest(
          rows.map(({ branch }) => branch),
          LONGEST.branch,
        )
      : 0,
  };
}

interface How {
  readonly isChosen: boolean;
  readonly isPicked: boolean;
}

function drawRow(row: Row, widths: Widths, { isChosen, isPicked }: How, look: Look, now: number): Line {
  const { ruler } = look;
  const chosen = styleOf("chosen", look);
  const cell = (text: string, width: number, style: string): Line =>
    width === 0
      ? []
      : [...fillLine([span(text, isChosen ? chosen : style)], width, ruler, isChosen ? chosen : ""), gap];
  const gap = span(" ", isChosen ? chosen : "");
  return [
    span(`${isChosen ? ">" : " "}${isPicked ? "*" : " "}`, isChosen ? chosen : isPicked ? styleOf("strong", look) : ""),
    ...cell(row.name, widths.name, NEED_TONES[row.need] === "quiet" ? "" : styleOf("strong", look)),
    ...cell(row.agent, widths.agent, styleOf("quiet", look)),
    ...cell(row.word, widths.word, styleOf(NEED_TONES[row.need], look)),
    ...cell(age(row.since, now).padStart(3), 4, styleOf("quiet", look)),
    ...cell(row.branch, widths.branch, styleOf("quiet", look)),
    span(row.line, isChosen ? chosen : ""),
  ];
}
