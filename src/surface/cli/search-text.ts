/** What a search found, for people: where, when and who, and a line with the hits marked. Pure. */
import type { OutputOf } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Output } from "./output.ts";
import { paint, withoutPaint } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { rulerFor, type TextRuler } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

type Found = OutputOf<"search">["found"][number];

const MARGIN = { first: "    ", next: "    " } as const;

/** On a terminal an excerpt is broken between words; elsewhere it is one line. */
export async function searchText(
  found: readonly Found[],
  { hasColour, isTerminal, width }: Pick<Output, "hasColour" | "isTerminal" | "width">,
  now: number,
): Promise<string> {
  const plain = await rulerFor(found.map(({ excerpt }) => excerpt));
  const ruler: TextRuler = { ...plain, width: (text) => plain.width(withoutPaint(text)) };
  const room = isTerminal ? width : null;
  return found
    .map((one) => `${headOf(one, hasColour, now)}\n${wrapped(excerptOf(one, hasColour), MARGIN, room, ruler)}`)
    .join("");
}

function headOf(found: Found, hasColour: boolean, now: number): string {
  const name = oneLine(found.session ?? found.session_id ?? (found.kind === "mail" ? "you" : "Reeve"));
  const rest = `${WHAT[found.kind](found)}, ${relativeTime(found.at, now)}`;
  return hasColour ? `${paint("strong", name)}  ${paint("quiet", rest)}` : `${name}  ${rest}`;
}

const WHAT = {
  message: ({ who }) => oneLine(who),
  tool: ({ who, ref }) => (ref === "result" ? `result of ${oneLine(who)}` : oneLine(who)),
  event: ({ who, ref }) => `event ${ref ?? ""} ${oneLine(who)}`,
  mail: ({ who, ref }) => `mail from ${oneLine(who)} (${ref ?? ""})`,
} as const satisfies Record<Found["kind"], (found: Found) => string>;

/** Without colour the hits are not marked: what is printed is what was said. */
function excerptOf({ excerpt, hits }: Found, hasColour: boolean): string {
  if (!hasColour) return stripTerminal(excerpt);
  let text = "";
  let from = 0;
  for (const { start, end } of hits) {
    if (start < from) continue;
    text += stripTerminal(excerpt.slice(from, start)) + paint("notice", stripTerminal(excerpt.slice(start, end)));
    from = end;
  }
  return text + stripTerminal(excerpt.slice(from));
}
