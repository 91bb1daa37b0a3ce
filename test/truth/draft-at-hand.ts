/** A text that stands in the composer of a pane and that a person has not sent: is it still there, and what becomes of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Draft } from "./history.ts";
import type { PaneKeys } from "./pane-keys.ts";

export interface DraftAtHand {
  /** What is known of it so far. */
  readonly draft: Draft;
  /** Looks whether it is still there; false when it was gone at some look. */
  look(): Promise<boolean>;
  /** The person presses Enter, or deletes it; nothing, when it is gone. */
  end(how: "enter" | "clear"): Promise<void>;
}

/** A screen that is just being drawn may lack anything: twice in a row is not that. */
const DRAWING_MS = 500;

export function draftAtHand(pane: PaneKeys, tag: string, onEnter: (at: number) => void): DraftAtHand {
  const draft: { -readonly [Key in keyof Draft]: Draft[Key] } = { tag, from: Date.now(), to: null, missingAt: null };
  const isShown = async (): Promise<boolean> => (await pane.screen()).includes(tag);
  return {
    draft,
    async look() {
      if (draft.missingAt !== null || (await isShown())) return draft.missingAt === null;
      await sleep(DRAWING_MS);
      if (!(await isShown())) draft.missingAt = Date.now();
      return draft.missingAt === null;
    },
    async end(how) {
      const at = Date.now();
      draft.to = at;
      if (draft.missingAt !== null) return;
      if (how === "enter") onEnter(at);
      await pane.press(how === "enter" ? "Enter" : "C-u");
    },
  };
}
