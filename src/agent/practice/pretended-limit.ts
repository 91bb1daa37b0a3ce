/**
 * The limit that `limit 20s` pretends: like a vendor's, it refuses every prompt
 * until it resets. The prompt that began it is answered when it comes again
 * later, so that whoever waited for the reset gets on.
 */
import type { PlayableScript, Refusal } from "./turn.ts";
import type { TurnScript } from "./turn-script.ts";

export interface PretendedLimit {
  /** What this prompt gets at this moment. */
  apply(prompt: string, script: Exclude<TurnScript, { type: "quit" }>, now: number): PlayableScript;
}

export function pretendedLimit(): PretendedLimit {
  const begunBy = new Set<string>();
  let current: { readonly refusal: Refusal; readonly resetsAt: number } | null = null;
  return {
    apply(prompt, script, now) {
      if (current !== null && now < current.resetsAt) return current.refusal;
      if (script.type !== "limit") return script;
      if (begunBy.has(prompt)) return { type: "reply", lines: ["The limit has been reset: done."] };
      begunBy.add(prompt);
      const resetsAt = Math.round(now + script.resetsInMs);
      const limit = { name: script.limit, usedPercent: 100, resetsAt: script.isSaid ? resetsAt : null };
      const when = script.isSaid ? `, try again at ${new Date(resetsAt).toISOString()}` : "";
      current = {
        resetsAt,
        refusal: { type: "refusal", limit, error: `The limit of ${script.limit} is reached${when}.` },
      };
      return current.refusal;
    },
  };
}
