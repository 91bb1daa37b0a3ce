/**
 * Looks for a pasted text in the composer before Enter is pressed. A text that
 * nothing became of is pasted once more: gemini 0.61.0 drops what comes while it
 * resumes a conversation, which it begins with its composer on the screen.
 */
import type { Standing } from "../../agent/composer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ComposerWatch } from "./composer-watch.ts";

export interface Paste {
  /** All that is to stand in the composer. */
  readonly whole: string;
  /** What stands there if both pastes arrive. */
  readonly twice: string;
  /** An agent draws a paste within so long. */
  readonly drawnMs: number;
  /** Agents take an Enter that comes sooner for a part of the paste. */
  readonly pauseMs: number;
  /** It may be drawn once more, and stands there again within so long. */
  readonly settledMs: number;
  readonly again: () => Promise<void>;
  /** Clears what was pasted, wherever it went. */
  readonly clearUnseen: () => Promise<void>;
  /** The agent did nothing since that could come from it. */
  readonly isUndisturbed: () => boolean;
}

/** Why Enter must not be pressed; null when the text stands there, and nothing else. */
export async function problemWithPaste(clock: Clock, watch: ComposerWatch, paste: Paste): Promise<string | null> {
  const isThere = (now: Standing): boolean => watch.shows(paste.whole, now);
  const isTwice = (now: Standing): boolean => watch.shows(paste.twice, now);
  let standing = await standingWhen(clock, watch, paste, isThere);
  if (standing.state === "empty" && paste.isUndisturbed()) {
    await paste.again();
    standing = await standingWhen(clock, watch, paste, (now) => isThere(now) || isTwice(now));
    if (isTwice(standing)) {
      // The first was only late. Of a long text the end alone is seen, which is the same of one and of two.
      if (!(await watch.clear())) return PROBLEMS.text;
      await paste.again();
      standing = await standingWhen(clock, watch, paste, isThere);
    }
  }
  if (isThere(standing)) return null;
  // A screen may mislead: what comes next must not be put behind it.
  if (standing.state === "empty" && paste.isUndisturbed()) await paste.clearUnseen();
  return PROBLEMS[standing.state];
}

/**
 * The pause begins when the text is seen: a busy agent draws it late, and
 * gemini 0.61.0 took "/quit" and an Enter right behind it for "/clear".
 */
async function standingWhen(
  clock: Clock,
  watch: ComposerWatch,
  { drawnMs, pauseMs, settledMs }: Paste,
  holds: (standing: Standing) => boolean,
): Promise<Standing> {
  const standing = await watch.until(holds, drawnMs);
  if (!holds(standing)) return standing;
  await clock.sleep(pauseMs);
  return await watch.until(holds, settledMs);
}

const PROBLEMS = {
  empty: "It was pasted but did not appear in its input, so Enter was not pressed; look at its screen.",
  absent:
    "It was pasted, but then its screen no longer showed its input, so Enter was not pressed; look at its screen.",
  text: "It was pasted, but its input also contains other text, so Enter was not pressed; look at its screen.",
} as const satisfies Record<Standing["state"], string>;
