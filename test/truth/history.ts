/**
 * What is compared: the truth of one lane (from the scripted model, the kernel,
 * tmux and the agent's own files) and every claim Reeve made about it. Pure
 * data; instants are milliseconds since the epoch.
 */
import type { Mode } from "./case.ts";
import type { Finding } from "./finding.ts";

export type Verdict = "completed" | "failed" | "interrupted";

/** A turn as the model (or the agent's own file) saw it. */
export interface TrueTurn {
  /** The whole text that the model was given as the newest prompt. */
  readonly prompt: string;
  readonly startedAt: number;
  /** Null while it is under way. */
  readonly endedAt: number | null;
  /** `died`: its process went first, so nobody can say more than that. */
  readonly verdict: Verdict | "died" | "open";
  /** What the model said last, where `data` is to show it. */
  readonly says: string | null;
  /** It may be told as part of the turn before it: text put into a turn under way. */
  readonly mayJoin: boolean;
  /** Which verdicts are true of it; several where the agent died at the same moment. */
  readonly allowed: readonly Verdict[];
  /** It may be told or not. */
  readonly isOptional: boolean;
}

export interface TrueQuestion {
  /** What is asked, as the approval must show it. */
  readonly subject: string;
  readonly askedAt: number;
  readonly settledAt: number | null;
  /** So many are open at once. */
  readonly count: number;
}

export interface TrueBirth {
  readonly incarnation: number;
  readonly at: number;
}

export interface TrueDeath {
  readonly incarnation: number;
  readonly at: number;
  readonly cause: "killed" | "quit" | "ended" | "restarted" | "tmux-killed" | "exited";
}

export interface Span {
  readonly from: number;
  readonly to: number | null;
  readonly what: string;
}

/** A text that really reached the agent. */
export interface Arrival {
  readonly text: string;
  readonly at: number;
  /** The most times it stands in one conversation, or the turns it made: whichever is more. */
  readonly times: number;
}

/** A text that was given to Reeve, or typed into the pane by the harness. */
export interface Sent {
  readonly tag: string;
  readonly text: string;
  readonly how: "start" | "queue" | "steer" | "interrupt" | "person";
  readonly at: number;
  /** Null: it was given as the first prompt, or no answer came. */
  readonly messageId: string | null;
  readonly isAcknowledged: boolean;
  /** It may be missing at the agent for a reason of the harness's own: the session was ended or killed. */
  readonly mayBeMissing: boolean;
}

/** Somebody asked Reeve to stop a turn: with a message that interrupts, or with `interrupt` alone. */
export interface Interrupt {
  readonly at: number;
  readonly answeredAt: number;
  /** The tag of the turn that it may stop; null: there was none. */
  readonly turn: string | null;
  /** That turn was under way and would not have ended by itself: it must be stopped. */
  readonly isUnderWay: boolean;
  /** The tag of the message that it came with; null: none. */
  readonly tag: string | null;
  /** What was there before and begins its turn later: messages that waited, a person's draft. */
  readonly waiting: readonly string[];
}

/** What a person typed into the composer and has not sent. */
export interface Draft {
  readonly tag: string;
  readonly from: number;
  /** When the person sent or deleted it. */
  readonly to: number | null;
  /** When it was gone from the screen, and the person had not touched it. */
  readonly missingAt: number | null;
}

export interface Event {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What `list` said of the session, and what the kernel said at the same time. */
export interface Sample {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly state: string;
  readonly liveness: string;
  readonly activity: string;
  readonly observability: string;
  /** Its main process was there after the answer; null where no end is claimed. */
  readonly isAlive: boolean | null;
  /** Its transcript is there and holds something; null where it is not called lost. */
  readonly hasTranscript: boolean | null;
}

/** What a waiter with a cursor was told. */
export interface Wake {
  readonly reason: string;
  /** Of the event that woke it. */
  readonly cursor: number;
  readonly at: number;
  /** What `data` showed right after a completed turn: null for other wakes. */
  readonly shown: string | null;
  /** Where `data` took that from. */
  readonly source: string | null;
  /** It said that the reply may not be written down yet. */
  readonly isBehind: boolean;
}

/** `wait` without a cursor, right after a message was sent. */
export interface LooseWait {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly reason: string;
  /** The tag of the message that was sent just before. */
  readonly tag: string;
}

export interface FailedCommand {
  readonly at: number;
  readonly words: string;
  readonly status: number | null;
  readonly output: string;
}

export interface History {
  readonly mode: Mode;
  readonly turns: readonly TrueTurn[];
  readonly questions: readonly TrueQuestion[];
  /** While one of the agent's own dialogs was open. */
  readonly dialogs: readonly Span[];
  /** When the main process of each incarnation was first seen. */
  readonly births: readonly TrueBirth[];
  readonly deaths: readonly TrueDeath[];
  readonly arrivals: readonly Arrival[];
  readonly sent: readonly Sent[];
  readonly interrupts: readonly Interrupt[];
  readonly drafts: readonly Draft[];
  readonly events: readonly Event[];
  readonly samples: readonly Sample[];
  readonly wakes: readonly Wake[];
  readonly looseWaits: readonly LooseWait[];
  /** When the daemon, tmux or the agent could not answer, because the harness killed or stopped it. */
  readonly disturbances: readonly Span[];
  /** Since when the transcript is gone, because the harness deleted it. */
  readonly transcriptDeletedAt: number | null;
  readonly failedCommands: readonly FailedCommand[];
  /** What the model was asked, for a person to read. */
  readonly trace: readonly string[];
  /** What an episode saw itself. */
  readonly seen: readonly Finding[];
  /** What was left after the end was told. */
  readonly leftBehind: readonly string[];
  /** What never came to rest, if something did not. */
  readonly stuck: string | null;
  /** The environment of whoever started it is lost, and Reeve said so: there is nothing to judge. */
  readonly isEnvironmentLost: boolean;
  /** The machine's worst delay meanwhile: news may be late by some times that. */
  readonly lagMs: number;
  readonly finishedAt: number;
}
