/**
 * The inputs of a session: commands, which somebody asked for, and
 * observations, which something proved. Both go through the same serial queue
 * into the same `transition`.
 */
import type { Moment } from "../platform/clock.ts";
import type { FailureKind } from "./failure.ts";
import type { Approval, Decision, Ruling } from "./approval.ts";
import type { Caller } from "./caller.ts";
import type { Pulse } from "./health.ts";
import type { SeenHead } from "./checkout.ts";
import type { Reading } from "./reading.ts";
import type { RestartPolicy } from "./restart-record.ts";
import type { ChosenTimeOut, TimeOutName } from "./time-out.ts";
import type { Evidence, PauseMode, Place, PlaceView, Reason, Session, TranscriptCursor, Watch } from "./session.ts";

export type Command =
  | { readonly type: "pause"; readonly mode: PauseMode }
  | { readonly type: "resume" }
  /** `ifGone`: what runs is left alone, also if it was started a moment ago. */
  | { readonly type: "restart"; readonly graceMs: number; readonly ifGone?: boolean }
  | {
      readonly type: "end";
      readonly graceMs: number;
      readonly afterTurn: boolean;
      /** Whoever asks knows that it is held, and means it. */
      readonly isMeant?: boolean;
    }
  | { readonly type: "hold"; readonly reason: string; readonly forMs: number }
  | { readonly type: "release-hold" }
  | { readonly type: "cancel-end" }
  | { readonly type: "interrupt" }
  /** Somebody has seen it as it was in this revision. */
  | { readonly type: "seen"; readonly revision: number }
  | { readonly type: "rename"; readonly name: string }
  /** An archive of it was written. */
  | { readonly type: "exported"; readonly bytes: number }
  | {
      readonly type: "answer";
      readonly approvalId: string;
      readonly decision: Decision;
      /** The approval rule that decides it. */
      readonly rule?: string;
    }
  | { readonly type: "set-restart-policy"; readonly policy: RestartPolicy };

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
      /** Where more is known of the kind than its exit tells. */
      readonly failure?: FailureKind;
      readonly evidence: Evidence;
    }
  | {
      readonly type: "found-absent" | "found-unreachable";
      readonly incarnation: number;
      /** Its place as it was known when the question was asked: the answer is about that one, and nothing newer. */
      readonly asked: Place | null;
      readonly evidence: Evidence;
      /** What it lived in is gone, with every other session there: not its own doing. */
      readonly isShared?: boolean;
    }
  /** Somebody else froze its processes, or let them go on. */
  | { readonly type: "found-frozen" | "found-thawed"; readonly incarnation: number; readonly evidence: Evidence }
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
  /** It is due, and others are started first. */
  | { readonly type: "restart-postponed"; readonly waitMs: number }
  | {
      readonly type: "planned";
      readonly incarnation: number;
      readonly plan: PlannedWatch;
      /** Of the pass that its process gets. */
      readonly passHash: string;
      /** Whose limits it draws on; missing where its environment is not at hand: as before. */
      readonly account?: string | null;
    }
  | {
      /** What is checked out where it works. */
      readonly type: "checkout-seen";
      readonly incarnation: number;
      readonly root: string;
      readonly head: SeenHead;
      readonly evidence: Evidence;
    }
  | {
      /** Something lasts too long. The countdown that it names says whether that is so. */
      readonly type: "timed-out";
      readonly which: TimeOutName;
      readonly cause: string;
      readonly chosen: ChosenTimeOut;
      /** Its agent has a way to be interrupted. */
      readonly canInterrupt: boolean;
      /** Of its processes, where it is ended. */
      readonly graceMs: number;
    }
  | {
      readonly type: "interrupt-failed";
      readonly incarnation: number;
      readonly turn: number;
      readonly evidence: Evidence;
    }
  | { readonly type: "hold-ending" | "hold-lapsed" }
  /** From now on what may last too long is counted, also in a record of an earlier version. */
  | { readonly type: "counted" }
  | { readonly type: "stalled"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "examined"; readonly incarnation: number; readonly pulse: Pulse }
  | { readonly type: "answer-given"; readonly incarnation: number; readonly approvalId: string }
  | {
      readonly type: "answer-failed";
      readonly incarnation: number;
      readonly approvalId: string;
      readonly reason: Reason;
    }
  /** `record`: the file it was in. */
  | { readonly type: "read"; readonly incarnation: number; readonly reading: Reading; readonly record?: string }
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
  /** The same on a clock that nobody can set (moment.ts). */
  readonly moment?: Moment;
  /** In [0, 1), for jitter. */
  readonly random: number;
  /** What approval rules say to a question; null: a person decides. */
  readonly rulingOn?: (session: Session, approval: Approval) => Ruling | null;
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
