/** The story of a session for a terminal: time, who, what; what happened in a turn is indented below its beginning. */
import type { OutputOf } from "../../client/operation-types.ts";
import { localTime } from "../../platform/local-time.ts";
import { inSeconds } from "../../session/story/entry.ts";
import { paint, type Tone } from "./paint.ts";
import { oneLine } from "./session-text.ts";
import { rulerFor } from "./text-ruler.ts";
import { wrapped } from "./wrap.ts";

export type StoryEntryView = OutputOf<"showSession">["entries"][number];

export interface StoryLook {
  readonly hasColour: boolean;
  readonly now: Date;
  /** Of the terminal; null where one entry is one line, however long. */
  readonly width: number | null;
}

const WIDEST_ACTOR = 16;
const GAP = "  ";
const NO_MARGIN = { first: "", next: "" };

export async function storyText(entries: readonly StoryEntryView[], look: StoryLook): Promise<string> {
  const lines = entries.map((entry) => ({
    entry,
    actor: oneLine(actorText(entry.actor)),
    what: oneLine(whatText(entry)),
  }));
  const ruler = await rulerFor(lines.map(({ what }) => what));
  return lines
    .map(({ entry, actor, what }) => {
      const time = localTime(new Date(entry.at), look.now);
      const shown = actor.length > WIDEST_ACTOR ? actor.slice(0, WIDEST_ACTOR) : actor.padEnd(WIDEST_ACTOR);
      const indent = isInside(entry) ? GAP : "";
      const margin = " ".repeat(time.length + GAP.length + WIDEST_ACTOR + GAP.length + indent.length);
      const room = look.width === null ? null : Math.max(20, look.width - margin.length);
      const tone = toneOf(entry);
      const parts = wrapped(what, NO_MARGIN, room, ruler)
        .trimEnd()
        .split("\n")
        .map((part) => (look.hasColour && tone !== null ? paint(tone, part) : part));
      const [head, who] = look.hasColour ? [paint("quiet", time), paint("strong", shown)] : [time, shown];
      return `${head}${GAP}${who}${GAP}${indent}${parts.join(`\n${margin}`)}\n`;
    })
    .join("");
}

/** All but its beginning and its end. */
function isInside({ turn, kind, source }: StoryEntryView): boolean {
  return turn !== null && !(kind === "turns" && source === "log");
}

function actorText(actor: string): string {
  return actor.replace(/^(?:session|rule):/, "");
}

function whatText({ what, kind, ms }: StoryEntryView): string {
  if (kind === "said") return `"${what}"`;
  return (kind === "tools" || kind === "approvals") && ms !== null ? `${what} (${inSeconds(ms)})` : what;
}

function toneOf({ failed, kind, type }: StoryEntryView): Tone | null {
  if (failed) return "bad";
  if (type === "turn-completed" || type === "session-running") return "good";
  if (type === "approval-requested") return "notice";
  return kind === "api" || kind === "activity" || kind === "inbox" ? "quiet" : null;
}
