/**
 * The inputs of a session: commands, which somebody asked for, and
 * observations, which something proved. Both go through the same serial queue
 * into the same `transition`.
 */
import type { Decision } from "./approval.ts";
import type { Caller } from "./caller.ts";
import type { Reading } from "./reading.ts";
import type { Evidence, PauseMode, Place, PlaceView, Reason, TranscriptCursor, Watch } from "./session.ts";

export type Command =
  | { readonly type: "pause"; readonly mode: PauseMode }
  | { readonly type: "resume" }
  | { readonly type: "restart"; readonly graceMs: number }
  | { readonly type: "end"; readonly graceMs: number; readonly afterTurn: boolean }
  | { readonly type: "cancel-end" }
  /** Somebody has seen it as it was in this revision. */
  | { readonly type: "seen"; readonly revision: number }
  | { readonly type: "rename"; readonly name: string }
  | { readonly type: "answer"; readonly approvalId: string; readonly decision: Decision };

export type Observation =
  | {
      readonly type: "created";
      readonly incarnation: number;
      readonly place: Place;
      readonly shown: PlaceView;
      readonly evidence: Evidence;
      /** Started again, and its agent had no conversation to resume. */
      readonly isAnew?: boolean;
    }
  | { readonly type: "create-failed"; readonly incarnation: number; readonly code: string; readonly evidence: Evidence }
  /** It could not be created, and that may pass: Reeve tries again. */
  | {
      readonly type: "create-delayed";
      readonly incarnation: number;
      readonly code: string;
      readonly evidence: Evidence;
    }
  | { readonly type: "environment-lost"; readonly incarnation: number; readonly evidence: Evidence }
  | {
      readonly type: "found-running";
      readonly incarnation: number;
      readonly place: Place;
      readonly shown: PlaceView;
      readonly evidence: Evidence;
      readonly adopted: boolean;
    }
  | {
      readonly type: "found-exited";
      readonly incarnation: number;
      readonly code: number | null;
      readonly signal: string | null;
      readonly evidence: Evidence;
    }
  | {
      readonly type: "found-absent" | "found-unreachable";
      readonly incarnation: number;
      /** Its place as it was known when the question was asked: the answer is about that one, and nothing newer. */
      readonly asked: Place | null;
      readonly evidence: Evidence;
    }
  | { readonly type: "suspended"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "released"; readonly incarnation: number; readonly evidence: Evidence }
  | {
      readonly type: "cleared";
      readonly incarnation: number;
      /** Also the place was removed, with its screen and environment. */
      readonly isPlaceGone: boolean;
      /** What its terminal showed last. */
      readonly lastLine?: string;
      readonly evidence: Evidence;
    }
  /** The first signal of a stop follows: from here on it cannot be taken back. */
  | { readonly type: "stop-begun"; readonly incarnation: number }
  | { readonly type: "stop-delayed"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "restart-due" }
  | {
      readonly type: "planned";
      readonly incarnation: number;
      readonly plan: PlannedWatch;
      /** Of the pass that its process gets. */
      readonly passHash: string;
    }
  | { readonly type: "stalled"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "answer-given"; readonly incarnation: number; readonly approvalId: string }
  | {
      readonly type: "answer-failed";
      readonly incarnation: number;
      readonly approvalId: string;
      readonly reason: Reason;
    }
  | { readonly type: "read"; readonly incarnation: number; readonly reading: Reading }
  | {
      /** What new lines of the transcript said, in one commit with how far it has been read. */
      readonly type: "read-transcript";
      readonly incarnation: number;
      readonly readings: readonly Reading[];
      readonly cursor: TranscriptCursor;
      /** The last sentence of the agent in them; null: it was asked something since. */
      readonly said?: string | null;
    };

/** What the agent planned for an incarnation that is about to be created. */
export interface PlannedWatch {
  readonly watch: Watch;
  readonly nativeId: string | null;
  readonly transcriptPath: string | null;
  readonly observabilityReason: string;
}

export type Input = Command | Observation;

export interface Context {
  readonly now: number;
  /** In [0, 1), for jitter. */
  readonly random: number;
  /** Who asked, for a command; nobody asks for an observation. */
  readonly caller?: Caller;
}

/** One step of typing; agents write it, runtimes carry it out. */
export type InputStep =
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "key"; readonly key: Key }
  | { readonly type: "pause"; readonly ms: number };

export type Key =
  | "Enter"
  | "Escape"
  | "Tab"
  | "Up"
  | "Down"
  | "BSpace"
  | "C-c"
  | "C-d"
  | "C-u"
  | "y"
  | "n"
  | "1"
  | "2"
  | "3"
  | "4";
