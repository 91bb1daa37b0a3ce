/**
 * What an agent says of a limit of its vendor: how much of it is used, or that
 * nothing more is answered until some moment. The adapter makes it of what the
 * agent shows; the quota breaker (fleet/quota.ts) decides what follows.
 */

/**
 * How sure it is when the limit resets. stated: the vendor gave the moment.
 * derived: from a text or a window's length. none: nobody said.
 */
export type LimitConfidence = "stated" | "derived" | "none";

export interface LimitReading {
  /** The vendor's name of it, within the account: "primary", "five_hour", "gemini-2.5-pro per day", "requests". */
  readonly limit: string;
  /** ok and warning: how much is used. rejected: nothing more is answered before the reset. */
  readonly status: "ok" | "warning" | "rejected";
  /** 0 to 100; null where the agent does not say. */
  readonly usedPercent: number | null;
  /** Milliseconds since the epoch; null where nobody said. */
  readonly resetsAt: number | null;
  readonly confidence: LimitConfidence;
  /** When it was said, where the source tells (milliseconds since the epoch): a continued conversation tells old ones again. */
  readonly at?: number;
  /** The agent goes on by itself at the reset: nobody must do it for it. */
  readonly resumesItself?: true;
  /** In the agent's words. */
  readonly text: string;
}
