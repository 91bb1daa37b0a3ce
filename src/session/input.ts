/**
 * Everything that can happen to a session: commands, which somebody asked
 * for, and observations, which something proved. Both go through the same
 * serial queue into the same `transition`.
 */
import type { Reading } from "./reading.ts";
import type { Evidence, PauseMode, Place } from "./session.ts";

export type Command =
  | { readonly type: "pause"; readonly mode: PauseMode }
  | { readonly type: "resume" }
  | { readonly type: "restart"; readonly graceMs: number }
  | { readonly type: "end"; readonly graceMs: number; readonly afterTurn: boolean };

export type Observation =
  | { readonly type: "created"; readonly incarnation: number; readonly place: Place; readonly evidence: Evidence }
  | { readonly type: "create-failed"; readonly incarnation: number; readonly code: string; readonly evidence: Evidence }
  | { readonly type: "environment-lost"; readonly incarnation: number; readonly evidence: Evidence }
  | {
      readonly type: "found-running";
      readonly incarnation: number;
      readonly place: Place;
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
  | { readonly type: "found-absent"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "found-unreachable"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "suspended"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "released"; readonly incarnation: number; readonly evidence: Evidence }
  | {
      readonly type: "cleared";
      readonly incarnation: number;
      /** Also the place was removed, with its screen and environment. */
      readonly isPlaceGone: boolean;
      readonly evidence: Evidence;
    }
  | { readonly type: "stop-delayed"; readonly incarnation: number; readonly evidence: Evidence }
  | { readonly type: "restart-due" }
  | { readonly type: "read"; readonly incarnation: number; readonly reading: Reading };

export type Input = Command | Observation;

export interface Context {
  readonly now: number;
  /** In [0, 1), for jitter. */
  readonly random: number;
}

/** One step of typing; agents write it, runtimes carry it out. */
export type InputStep =
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "key"; readonly key: Key }
  | { readonly type: "pause"; readonly ms: number };

export type Key = "Enter" | "Escape" | "C-c" | "C-d" | "C-u" | "y" | "n";
