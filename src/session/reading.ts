/**
 * A reading: what one message of an agent's protocol, a hook's record, a line
 * of its transcript, its status file or its screen says. The agent's adapter
 * makes it; `transition` decides how much it counts.
 */
import type { ApprovalRequest, Choices, Concerns, Decision } from "./approval.ts";
import type { BackgroundReading } from "./background.ts";
import type { FailureKind } from "./failure.ts";
import type { Key } from "./input.ts";
import type { LimitReading } from "./limit.ts";
import type { ActivityStatus, Evidence } from "./session.ts";
import { count, instant, object, type Of, orNull } from "./shape.ts";

export interface Reading {
  readonly source: Evidence["source"];
  /** What was seen, in a few words: "Stop hook", "task_complete line", "rule approval-command". */
  readonly detail: string;
  readonly activity?: ActivityStatus;
  /** What is asked, with awaiting-approval and awaiting-input. */
  readonly asks?: string;
  /** The whole text of the dialog on the screen, by which the question in it is recognised. Never written. */
  readonly dialog?: string;
  /** How the dialog on the screen is answered right now. Never written. */
  readonly answers?: Readonly<Record<Decision, AnswerKeys>>;
  readonly turn?: TurnReading;
  /** It says that it is done, and something may still make it go on; the end itself follows. */
  readonly ending?: { readonly id?: string };
  /**
   * The turn's end was looked up, not told by somebody who saw it: it waits
   * for one that did (supervisor/attention/channel-keeper.ts), and is corrected by one.
   */
  readonly isHistory?: true;
  readonly approval?: ApprovalReading;
  /** What the agent left working in the background, or what became of it. */
  readonly background?: BackgroundReading;
  /** The agent's own id of the conversation. */
  readonly nativeId?: string;
  /** Where the transcript is or will be, learnt just now. */
  readonly transcriptPath?: string;
  readonly transcript?: "observable" | "lost";
  readonly usage?: UsageReading;
  /** What it says of the limits of its vendor. */
  readonly limits?: readonly LimitReading[];
  /** The model it works with now, and how much it may do unasked, each in the agent's own words. */
  readonly setup?: SetupReading;
  /** It begins although Reeve's tools have not come up. */
  readonly toolsLate?: true;
  /** It replaced its conversation by a shorter one. */
  readonly compacted?: { readonly at?: number };
}

/** `at`: when that was, where the source says so. A transcript that is continued tells of earlier times. */
export interface SetupReading {
  readonly model?: string;
  readonly mode?: string;
  readonly at?: number;
}

/**
 * `id` is the agent's own name of the turn, where this source has one: two
 * sources that speak of the same turn are recognised by it. `at` is when it
 * happened (milliseconds since the epoch), where the source says so: an end
 * from before the turn under way began is another turn's.
 */
export type TurnReading =
  | {
      readonly phase: "started";
      /** The agent began it by itself, to go on with what it had left working: no turn of its own while one is open. */
      readonly continues?: true;
      /** It had completed the turn of this id, and something of the user's made it go on. */
      readonly prolongs?: true;
      readonly id?: string;
      readonly at?: number;
      /** What was submitted. */
      readonly prompt?: string;
      /** Of the whole of it, before it was cut and secrets were taken out (prompt-print.ts). Never written. */
      readonly print?: string;
    }
  | { readonly phase: "completed" | "interrupted"; readonly id?: string; readonly at?: number }
  | {
      readonly phase: "failed";
      readonly id?: string;
      readonly at?: number;
      /** In the agent's words. */
      readonly error: string;
      /** Missing where its adapter cannot tell. */
      readonly failure?: FailureKind;
    };

export type ApprovalReading =
  | { readonly requested: ApprovalRequest; readonly choices?: Choices; readonly concerns?: Concerns }
  /** `id: null`: whatever was open. `decision: null`: it is no longer asked, and this source cannot tell how it was answered. */
  | { readonly settled: { readonly id: string | null; readonly decision: Decision | null } };

export interface AnswerKeys {
  readonly keys: readonly Key[];
  /** Selects the choice; pressed first, and alone. Null where it is selected, or needs not be. */
  readonly move: Key | null;
}

/** Either what one answer cost, to be added up, or what the agent says it all cost so far. */
export interface UsageReading {
  readonly kind: "added" | "total";
  readonly usage: Usage;
}

export const usage = object({
  /** All input tokens, cached ones included. */
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  /** In US dollars, only where the agent itself says so. */
  costUsd: orNull(instant),
});
export interface Usage extends Of<typeof usage> {}
