/** How the board looks on this terminal: colours or none, and how wide text is there. */
import type { Need } from "../../session/need-order.ts";
import type { TextRuler } from "../cli/text-ruler.ts";

export interface Look {
  readonly hasColour: boolean;
  readonly ruler: TextRuler;
}

export type Tone = "good" | "bad" | "notice" | "quiet" | "strong" | "chosen";

const COLOURED = { good: "32", bad: "31", notice: "33", quiet: "2", strong: "1", chosen: "7" } as const;
/** Without colours weight and reverse still say something. */
const PLAIN = { good: "", bad: "1", notice: "1", quiet: "", strong: "1", chosen: "7" } as const;

export function styleOf(tone: Tone, { hasColour }: Pick<Look, "hasColour">): string {
  return hasColour ? COLOURED[tone] : PLAIN[tone];
}

export const NEED_TONES = {
  blocked: "notice",
  failed: "bad",
  finished: "good",
  unreachable: "notice",
  parked: "notice",
  working: "strong",
  idle: "quiet",
  paused: "quiet",
  stopped: "quiet",
  foreign: "quiet",
} as const satisfies Record<Need | "foreign", Tone>;
