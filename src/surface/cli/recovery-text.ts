/** A recovery as a page for people: a title for each section, what is most important below it, then the details. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { Output } from "./output.ts";
import { paint, type Tone } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { rulerFor } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

type Recovery = OutputOf<"recover">;
type Statement = NonNullable<Recovery["sections"]>[number]["statements"][number];

const INDENT = { first: "  ", next: "  " };
const DEEPER = { first: "  - ", next: "    " };
/** A screen has room for so many of each. */
const MOST_DETAILS = 5;

export async function recoveryPage(
  found: Pick<Recovery, "name" | "session_id" | "sections">,
  output: Pick<Output, "width" | "hasColour">,
  { isWhole, now }: { readonly isWhole: boolean; readonly now: number },
): Promise<string> {
  const sections = found.sections ?? [];
  const ruler = await rulerFor([JSON.stringify(sections)]);
  const toned = (tone: Tone, text: string): string => (output.hasColour ? paint(tone, text) : text);
  const said = ({ text, source, at, known }: Statement): string => {
    const age = at === null ? "" : `, ${relativeTime(at, now)}`;
    return oneLine(known ? (source === "rules" ? text : `${text} (${source}${age})`) : `? ${text}`);
  };
  const pages = sections.map(({ title, statements, more }) => {
    const [first, ...others] = statements;
    const shown = isWhole ? others : others.slice(0, MOST_DETAILS);
    const left = others.length - shown.length;
    return [
      `${toned("strong", title)}\n`,
      ...(first === undefined ? [] : [wrapped(capitalized(said(first)), INDENT, output.width, ruler)]),
      ...shown.map((one) => wrapped(said(one), DEEPER, output.width, ruler)),
      ...(left === 0 ? [] : [toned("quiet", `  and ${left} more: ${more}\n`)]),
    ].join("");
  });
  return [`${toned("strong", `${oneLine(found.name)} (${found.session_id})`)}\n`, ...pages].join("\n");
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
