/**
 * What somebody needs to know who comes back to a session after a restart: the
 * facts, as they were found, each with where it comes from and from when. What
 * could not be found out says so, and is never taken for "nothing". Pure; it is
 * gathered by supervisor/recovery/, put into sections by recovery-sections.ts
 * and told by recovery-text.ts.
 */
import type { MailKind, MailPriority } from "./mail.ts";

/** `at`: when it was looked at. */
export type Found<T> =
  | { readonly known: true; readonly value: T; readonly at: number }
  | { readonly known: false; readonly why: string; readonly at: number };

export interface RecoveryFacts {
  readonly now: number;
  readonly session: SessionFact;
  readonly mail: Found<readonly MailFact[]>;
  readonly wakes: Found<WakeFacts>;
  /** Null: it was never asked anything. */
  readonly prompt: Found<PromptFact | null>;
  /** Null: it works in no repository. */
  readonly checkout: Found<CheckoutFacts | null>;
  /** Null: it has had no turn. */
  readonly turn: Found<TurnFact | null>;
  /** Oldest first. */
  readonly messages: readonly MessageFact[];
  /** Newest first. */
  readonly doings: Found<readonly DoingFact[]>;
  readonly work: readonly WorkFact[];
  /** By supervisor/diagnosis/; null: nobody looked. */
  readonly layers: readonly LayerFact[] | null;
}

export interface SessionFact {
  readonly id: string;
  readonly name: string;
  readonly agent: string;
  readonly state: string;
  /** Why it is in that state. */
  readonly reason: string;
  readonly reasonAt: number;
  readonly incarnation: number;
  /** When its process was started; null: it has none. */
  readonly startedAt: number | null;
  readonly isEnded: boolean;
  readonly isRunning: boolean;
}

export interface MailFact {
  readonly id: string;
  readonly from: string;
  readonly kind: MailKind;
  readonly priority: MailPriority;
  /** Null: whoever asks may not read it. */
  readonly subject: string | null;
  /** How its text begins. */
  readonly preview: string;
  readonly seq: number;
  readonly sentAt: number;
}

export interface WakeFacts {
  /** What came before this is old: the last restart, or the end of the last process; null: it was never restarted. */
  readonly restartedAt: number | null;
  /** Wakes that it was given, oldest first. */
  readonly given: readonly GivenWake[];
  /** What it has not been told yet, and will be. */
  readonly due: readonly { readonly name: string; readonly reason: string; readonly at: number }[];
  /** What it has not been told and is too old to be told. */
  readonly stale: number;
}

export interface GivenWake {
  readonly since: number;
  readonly through: number;
  readonly count: number;
  readonly at: number;
}

export interface PromptFact {
  readonly text: string;
  readonly at: number | null;
  readonly source: "transcript" | "message" | "start";
}

export interface CheckoutFacts {
  readonly root: string;
  /** Null: it declared none. */
  readonly declared: string | null;
  /** What is checked out, in a word or two. */
  readonly actual: string;
  /** A merge, a rebase and so on, with what is rebased where that is known. */
  readonly underWay: readonly string[];
  /** Paths, relative to the root. */
  readonly changed: readonly string[];
  readonly conflicted: readonly string[];
  readonly untracked: readonly string[];
  /** Null: the branch has no upstream. */
  readonly ahead: number | null;
  readonly behind: number | null;
  /** As git lists them. */
  readonly stashes: readonly string[];
  readonly locks: readonly LockFact[];
  /** How HEAD moved between the end of the last process and the start of this one, oldest first. */
  readonly moves: Found<readonly string[]>;
}

export interface LockFact {
  readonly path: string;
  readonly madeAt: number;
}

export interface TurnFact {
  readonly turn: number;
  readonly how: "under-way" | "completed" | "failed" | "interrupted" | "cut-short" | "lost";
  /** Who says so. */
  readonly source: string;
  readonly at: number | null;
  /** Of one that failed. */
  readonly error: string | null;
  /** The tool call that has no result; null: there is none, or `callUnknown` says why nobody knows. */
  readonly call: { readonly tool: string; readonly input: string; readonly at: number | null } | null;
  readonly callUnknown: string | null;
  /** A turn that began after the restart. */
  readonly later: number | null;
}

export interface MessageFact {
  readonly id: string;
  readonly by: string;
  readonly state: "admitted" | "leased";
  readonly text: string;
  readonly at: number;
}

export interface DoingFact {
  readonly what: string;
  readonly at: number;
}

export interface WorkFact {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly since: number;
}

export interface LayerFact {
  readonly layer: string;
  readonly verdict: string;
  readonly detail: string;
}
