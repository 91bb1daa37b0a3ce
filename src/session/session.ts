/**
 * A session as Reeve knows it: one immutable record, a projection of its
 * events. Pure data; it holds no secret (of the environment only names and the
 * file it came from) and nothing that belongs to one runtime or one agent.
 *
 * Instants are milliseconds since the epoch and end in `At`.
 */
import { isDeepStrictEqual } from "node:util";
import type { Approval } from "./approval.ts";
import type { BackgroundTask } from "./background.ts";
import type { CallerName } from "./caller.ts";
import type { Command } from "./input.ts";
import type { Notice } from "./notice.ts";
import type { Usage } from "./reading.ts";

export type State = "planned" | "starting" | "running" | "paused" | "error" | "stopped";
export const STATES = ["planned", "starting", "running", "paused", "error", "stopped"] as const satisfies State[];

/** What somebody asked for, kept apart from what is. */
export type Desired = "running" | "paused" | "stopped";

/** Detach holds input back; suspend also stops the processes. */
export type PauseMode = "detach" | "suspend";

export type RestartPolicy = "never" | "on-failure" | "always";

/** Where a claim comes from, so that whoever reads it can check it. */
export interface Evidence {
  readonly source:
    | "operator"
    | "session"
    | "runtime"
    | "protocol"
    | "hook"
    | "transcript"
    | "status"
    | "screen"
    | "supervisor";
  readonly detail: string;
  readonly at: number;
}

export interface Reason {
  /** Stable, for programs. */
  readonly code: string;
  /** One sentence, for people. */
  readonly text: string;
  readonly evidence: Evidence;
}

/** Is its process there? */
export interface Liveness {
  readonly status: "running" | "exited" | "absent" | "unreachable";
  readonly evidence: Evidence;
}

/** Can its native transcript be read? */
export interface Observability {
  readonly status: "pending" | "observable" | "lost";
  /** True while a missing transcript is what this agent does at this moment. */
  readonly expected: boolean;
  readonly reason: string;
  readonly transcriptPath: string | null;
}

/** What is it doing? */
export interface Activity {
  readonly status: ActivityStatus;
  /** What is asked, when something is. */
  readonly asks: string | null;
  readonly evidence: Evidence;
}
export type ActivityStatus = "starting" | "working" | "idle" | "awaiting-approval" | "awaiting-input" | "unknown";

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly at: number;
}

/** What to run; enough to run it again. */
export interface Launch {
  /** For the agent: its own arguments, or the whole command for the `command` agent. */
  readonly args: readonly string[];
  readonly prompt: string | null;
  readonly model: string | null;
  readonly cwd: string;
  readonly envFile: string | null;
  /** Names given with `--env`; the values live only in the runtime. */
  readonly envNames: readonly string[];
  /** Variables by which the agent finds its program and files (PATH, HOME, …): paths, never secrets. */
  readonly paths: Readonly<Record<string, string>>;
}

/** How an incarnation is watched: what its agent planned, kept so that a later daemon watches it the same way. */
export interface Watch {
  /** For people: "app-server", "hooks", … */
  readonly mode: string;
  readonly text: string;
  /** Of the agent's program, where it could be read. */
  readonly version: string | null;
  /** Where the agent's own protocol is spoken. */
  readonly socket: string | null;
  /** Where the agent keeps a status file. */
  readonly statusDir: string | null;
}

export type Verdict = "completed" | "failed" | "interrupted";

/** The newest turn: what tells a second report of its end from the end of another. */
export interface LastTurn {
  /** By the source that told of its beginning, else when that was read; null where it was missed. */
  readonly startedAt: number | null;
  /** The agent's own name for it, where some source gave one. */
  readonly id: string | null;
  readonly verdict: Verdict | null;
  /** Why it failed. */
  readonly error: string | null;
  /** Who said so. */
  readonly verdictSource: Evidence["source"] | null;
  /** It has said that it is done, and the end itself has not been told. */
  readonly isEnding: boolean;
  /** Ids of the turns before it, newest last and bounded: a source that is behind still tells of them. */
  readonly earlier: readonly string[];
  /** Of it and those before: ends that nobody who saw them has told yet. */
  readonly inferred: readonly InferredEnd[];
}

export interface InferredEnd {
  readonly turn: number;
  readonly id: string | null;
  readonly verdict: Verdict;
  readonly source: Evidence["source"];
}

/** Up to where the transcript has been read; see platform/line-cursor.ts. */
export interface TranscriptCursor {
  readonly identity: string;
  readonly offset: number;
  readonly isInLongLine: boolean;
}

/**
 * Where the runtime put it: plain JSON that is stored as it is. Only the
 * runtime that made it (`Session.runtime`) knows what the fields mean.
 */
export type Place = Readonly<Record<string, unknown>>;

/** What people are shown of a place, in the words of its runtime. */
export interface PlaceView {
  /** What it runs as: "process 4242". */
  readonly text: string;
  readonly id: string | null;
  /** Null where it has none on this machine. */
  readonly pid: number | null;
}

export function isSamePlace(one: Place | null, other: Place | null): boolean {
  return isDeepStrictEqual(one, other);
}

/** A process as a file of the agent names it: by the pid it has there, and when it started in ticks of the kernel. */
export interface NamedProcess {
  readonly pid: number;
  readonly startTicks: string;
}

/**
 * The processes of this incarnation are to be ended, and what follows then.
 * Present from the commit of the intent until the end is proven.
 */
export interface StopIntent {
  readonly next: "stopped" | "restart" | "rest";
  readonly graceMs: number;
  /** Held back while a turn is under way, and until then it may be taken back. */
  readonly afterTurn: boolean;
}

export interface CreateFailures {
  readonly count: number;
  readonly sinceAt: number;
}

export interface RestartRecord {
  readonly count: number;
  /** When automatic restarts happened, newest last; bounded by the policy's window. */
  readonly recentAt: readonly number[];
  /** When the next automatic restart is due. */
  readonly dueAt: number | null;
}

/** Not started by Reeve itself: until then, or until a person asks for a restart (null). */
export interface Held {
  readonly reason: string;
  readonly until: number | null;
}

/** What was last asked of a session that changed it. */
export interface LastCommand {
  readonly type: Command["type"];
  readonly by: CallerName;
  readonly at: number;
}

export interface Session {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly agent: string;
  /** Whether this agent says when it works; without turns its activity stays unknown. */
  readonly hasTurns: boolean;
  readonly runtime: string;
  readonly launch: Launch;
  readonly restartPolicy: RestartPolicy;
  readonly parentId: string | null;
  readonly outputsDir: string;
  readonly branch: string | null;
  /** Who asked for it; null where an earlier version wrote the record. */
  readonly startedBy: CallerName | null;
  readonly lastCommand: LastCommand | null;

  readonly desired: Desired;
  readonly state: State;
  readonly reason: Reason;
  readonly pauseMode: PauseMode | null;
  /** Fact: the processes were stopped by signal and not yet released. */
  readonly suspended: boolean;
  readonly stop: StopIntent | null;

  /** Counts the processes started for this session; 0 before the first. */
  readonly incarnation: number;
  readonly place: Place | null;
  /** Tries to create this incarnation that failed; null when it is there, given up, or the first is under way. */
  readonly createFailures: CreateFailures | null;
  readonly liveness: Liveness;
  readonly observability: Observability;
  readonly activity: Activity;
  /** The agent's own conversation id, by which it can be resumed. */
  readonly nativeId: string | null;
  /** Turns begun; `turnOpen` says whether the last one is still under way. */
  readonly turns: number;
  readonly turnOpen: boolean;
  readonly lastTurn: LastTurn | null;
  /** Questions that wait for an answer, oldest first. */
  readonly approvals: readonly Approval[];
  /** What the agent left working beside its turns. */
  readonly background: readonly BackgroundTask[];
  /** Since when nothing was heard of a turn under way. */
  readonly stalledAt: number | null;
  readonly watch: Watch;
  readonly transcriptCursor: TranscriptCursor | null;
  /** Of the whole conversation, as far as its transcript tells. */
  readonly usage: Usage | null;
  /** How this incarnation ended; null while that is not proven. */
  readonly exit: Exit | null;
  readonly restart: RestartRecord;
  readonly held: Held | null;
  readonly notice: Notice;

  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly lastActivityAt: number | null;
  readonly endedAt: number | null;
  /** Grows by one with every committed change. */
  readonly revision: number;
}

export const SESSION_ID_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Asked to end, and ended: no longer listed by default, its name is free again. */
export function isEnded(session: Session): boolean {
  return session.desired === "stopped" && session.state === "stopped" && session.stop === null;
}
