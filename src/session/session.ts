/**
 * A session as Reeve knows it: one immutable record, a projection of its
 * events. Pure data; it holds no secret (of the environment only names and the
 * file it came from) and nothing that belongs to one runtime or one agent.
 *
 * Each field is defined here, once. Its type, the check when it is read from a
 * file, its value in a record of an earlier version and its value in a new
 * record follow from that (shape.ts). To add a field, add a line with `added`.
 *
 * Instants are milliseconds since the epoch and end in `At`.
 */
import { isDeepStrictEqual } from "node:util";
import { approval } from "./approval.ts";
import type { CallerName } from "./caller.ts";
import { checkout } from "./checkout.ts";
import { container } from "./container.ts";
import { cutShort } from "./cut-short.ts";
import { failureKind } from "./failure.ts";
import type { Command } from "./input.ts";
import { manifestOrigin } from "./manifest-origin.ts";
import { moment } from "./moment.ts";
import { persistence, plannedCapture } from "./persistence.ts";
import { quotaDraw } from "./quota-draw.ts";
import { usage } from "./reading.ts";
import { NO_RESTARTS, restart, restartPolicy } from "./restart-record.ts";
import { SESSION_ID_PATTERN } from "./session-id.ts";
import {
  added,
  anything,
  count,
  flag,
  instant,
  later,
  listOf,
  matching,
  object,
  type Of,
  oneOf,
  orNull,
  positive,
  recordOf,
  starts,
  text,
  textOf,
  begin,
} from "./shape.ts";
import { STATES } from "./states.ts";
import { stay } from "./stay.ts";
import { stopIntent } from "./stop-intent.ts";
import { timeOutRecord } from "./time-out-record.ts";
import { WAKE_REASONS } from "./wake.ts";
import { wakes } from "./wake-cursor.ts";

const state = oneOf(...STATES);
export type State = Of<typeof state>;

/** What somebody asked for, kept apart from what is. */
const desired = oneOf("running", "paused", "stopped");
export type Desired = Of<typeof desired>;

/** Detach holds input back; suspend also stops the processes. */
const pauseMode = oneOf("detach", "suspend");
export type PauseMode = Of<typeof pauseMode>;

export const SOURCES = [
  "operator",
  "session",
  "runtime",
  "protocol",
  "hook",
  "transcript",
  "status",
  "screen",
  "supervisor",
] as const;
const source = oneOf(...SOURCES);

/** Where a claim comes from, so that whoever reads it can check it. */
const evidence = object({ source, detail: text, at: instant });
export interface Evidence extends Of<typeof evidence> {}

const reason = object({
  /** Stable, for programs. */
  code: text,
  /** One sentence, for people. */
  text,
  evidence,
});
export interface Reason extends Of<typeof reason> {}

/** Is its process there? */
const liveness = object({ status: oneOf("running", "exited", "absent", "unreachable"), evidence });
export interface Liveness extends Of<typeof liveness> {}

/** Can its native transcript be read? */
const observability = object({
  status: oneOf("pending", "observable", "lost"),
  /** True while a missing transcript is what this agent does at this moment. */
  expected: flag,
  reason: text,
  transcriptPath: orNull(text),
});
export interface Observability extends Of<typeof observability> {}

/** What is it doing? */
const activity = object({
  status: oneOf("starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"),
  /** What is asked, when something is. */
  asks: orNull(text),
  evidence,
});
export interface Activity extends Of<typeof activity> {}
export type ActivityStatus = Activity["status"];

const exit = object({ code: orNull(instant), signal: orNull(text), at: instant });
export interface Exit extends Of<typeof exit> {}

/** What to run; enough to run it again. */
const launch = object({
  /** For the agent: its own arguments, or the whole command for the `command` agent. */
  args: listOf(text),
  prompt: orNull(text),
  model: orNull(text),
  cwd: text,
  envFile: orNull(text),
  /** Names given with `--env`; the values live only in the runtime. */
  envNames: listOf(text),
  /** Variables, and the files that hold their values. */
  keyFiles: later(recordOf(text), {}),
  /** Its agent is given Reeve's MCP server, where it can be and the settings allow it. */
  mcp: later(flag, true),
  /** Variables by which the agent finds its program and files (PATH, HOME, …): paths, never secrets. */
  paths: later(recordOf(text), {}),
  /** Null: nothing is kept beyond what every session has. */
  persistence: later(orNull(persistence), null),
  /** Null: its runtime gives it none. */
  container: later(orNull(container), null),
});
export interface Launch extends Of<typeof launch> {}

/** How an incarnation is watched: what its agent planned, kept so that a later daemon watches it the same way. */
const watchPlan = object({
  /** For people: "app-server", "hooks", … */
  mode: later(text, "process"),
  text: later(text, ""),
  /** Of the agent's program, where it could be read. */
  version: later(orNull(text), null),
  /** Where the agent's own protocol is spoken. */
  socket: later(orNull(text), null),
  /** Where the agent keeps a status file. */
  statusDir: later(orNull(text), null),
  /** Null: its traffic is not captured. */
  capture: later(orNull(plannedCapture), null),
});
export interface Watch extends Of<typeof watchPlan> {}

const verdict = oneOf("completed", "failed", "interrupted");
export type Verdict = Of<typeof verdict>;

const inferredEnd = object({ turn: count, id: orNull(text), verdict, source });
export interface InferredEnd extends Of<typeof inferredEnd> {}

/** The newest turn: what tells a second report of its end from the end of another. */
const lastTurn = object({
  /** By the source that told of its beginning, else when that was read; null where it was missed. */
  startedAt: orNull(instant),
  /** The agent's own name for it, where some source gave one. */
  id: orNull(text),
  verdict: orNull(verdict),
  /** Why it failed, in the agent's words, */
  error: orNull(text),
  /** and of which kind that is. */
  failure: later(orNull(failureKind), null),
  /** Who said so. */
  verdictSource: orNull(source),
  /** It has said that it is done, and the end itself has not been told. */
  isEnding: later(flag, false),
  /** How often its agent was said to have completed it, */
  stops: later(count, 0),
  /** and how often it was then made to go on by something of the user's. Under one id these are several turns. */
  prolonged: later(count, 0),
  /** Ids of the turns before it, newest last and bounded: a source that is behind still tells of them. */
  earlier: listOf(text),
  /** Of it and those before: ends that nobody who saw them has told yet. */
  inferred: later(listOf(inferredEnd), []),
});
export interface LastTurn extends Of<typeof lastTurn> {}

const backgroundTask = object({
  /** The agent's own name of it. */
  id: text,
  kind: oneOf("subagent", "command"),
  title: text,
  /** The turn under way is not over before this is. */
  holds: flag,
});
export interface BackgroundTask extends Of<typeof backgroundTask> {}

/** Up to where the transcript has been read; see platform/line-cursor.ts. */
const transcriptCursor = object({ identity: text, offset: count, isInLongLine: flag });
export interface TranscriptCursor extends Of<typeof transcriptCursor> {}

/**
 * Where the runtime put it: plain JSON that is stored as it is. Only the
 * runtime that made it (`identity.runtime`) knows what the fields mean.
 */
const place = recordOf(anything);
export type Place = Of<typeof place>;

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

export interface StopIntent extends Of<typeof stopIntent> {}

const createFailures = object({
  count,
  /** For people; `since` is what counts. */
  sinceAt: instant,
  since: later(orNull(moment), null),
});
export interface CreateFailures extends Of<typeof createFailures> {}

/** Proves which session calls (platform/pass.ts). */
const issuedPass = object({ incarnation: count, hash: text });
export interface IssuedPass extends Of<typeof issuedPass> {}

/** Not started by Reeve itself: until then, or until a person asks for a restart (null). */
const barred = object({ reason: text, until: orNull(instant) });
export interface Barred extends Of<typeof barred> {}

/** What was last asked of a session that changed it. */
const lastCommand = object({ type: textOf<Command["type"]>(), by: textOf<CallerName>(), at: instant });
export interface LastCommand extends Of<typeof lastCommand> {}

/**
 * What it is, from the request on. Its name and restart policy change on request, and where its files lie when a home is
 * moved; nothing else does.
 */
const identity = object({
  name: text,
  role: text,
  agent: text,
  /** Whether this agent says when it works; without turns its activity stays unknown. */
  hasTurns: flag,
  runtime: text,
  launch,
  restartPolicy,
  parentId: orNull(text),
  /** What its parent is woken for; fixed when it is started. */
  notify: later(listOf(oneOf(...WAKE_REASONS)), []),
  outputsDir: text,
  branch: orNull(text),
  /** Who asked for it; null where an earlier version wrote the record. */
  startedBy: later(orNull(textOf<CallerName>()), null),
  /** Null: no manifest made it. */
  manifest: later(orNull(manifestOrigin), null),
  /** It is a worker of `reeve work run`: it may be given further items, and is ended when there are none for it. */
  pooled: later(flag, false),
  createdAt: instant,
});
export interface Identity extends Of<typeof identity> {}

/** `failed`: it was tried, and the turn goes on. */
const interruptWish = object({ incarnation: count, turn: count, by: textOf<CallerName>(), failed: flag });

/** What was asked of it, and what Reeve means to do about that. */
const wish = object({
  desired: starts(desired, "running"),
  pauseMode: starts(orNull(pauseMode), null),
  stop: starts(orNull(stopIntent), null),
  /** It is barred (barred.ts); the name is older than holds. */
  held: starts(orNull(barred), null),
  /** It must stay: what people call a hold (stay.ts). */
  stay: added(orNull(stay), null),
  /** Somebody wants the turn under way to stop (interrupt.ts). */
  interrupt: added(orNull(interruptWish), null),
  lastCommand: added(orNull(lastCommand), null),
});

/** What runs: the newest incarnation, and how it fared. */
const process = object({
  /** Counts the processes started for this session; 0 before the first. */
  incarnation: starts(count, 1),
  place: starts(orNull(place), null),
  /** Tries to create this incarnation that failed; null when it is there, given up, or the first is under way. */
  createFailures: added(orNull(createFailures), null),
  liveness,
  /** What its processes may call with; more than one where a daemon died in the middle of a start. */
  passes: added(listOf(issuedPass), []),
  /** Fact: the processes were stopped by signal and not yet released. */
  suspended: starts(flag, false),
  /** What looks at its processes show while it should work; null: nothing worth noting yet. */
  pulse: added(orNull(object({ verdict: oneOf("healthy", "slow", "hung"), evidence })), null),
  /** How this incarnation ended; null while that is not proven. */
  exit: starts(orNull(exit), null),
  /** Of which kind that was; null while it lives, or ended well or on request. */
  failure: added(orNull(failureKind), null),
  restart: starts(restart, NO_RESTARTS),
  startedAt: starts(orNull(instant), null),
  endedAt: starts(orNull(instant), null),
});

/** What its agent does in it. */
const conversation = object({
  /** The agent's own conversation id, by which it can be resumed. */
  nativeId: orNull(text),
  activity,
  /** Turns begun; `turnOpen` says whether the last one is still under way. */
  turns: starts(count, 0),
  turnOpen: starts(flag, false),
  lastTurn: added(orNull(lastTurn), null),
  /** The turn that was under way when the last process that ended did; null: none was (cut-short.ts). */
  cutShort: added(orNull(cutShort), null),
  /** Questions that wait for an answer, oldest first. */
  approvals: added(listOf(approval), []),
  /** What the agent left working beside its turns. */
  background: added(listOf(backgroundTask), []),
  /** Since when nothing was heard of a turn under way. */
  stalledAt: added(orNull(instant), null),
  /** Of the whole conversation, as far as its transcript tells. */
  usage: added(orNull(usage), null),
  /** The model it works with, and how much it may do unasked, as its agent calls them; null: not known yet. */
  model: added(orNull(text), null),
  askMode: added(orNull(text), null),
  lastActivityAt: starts(orNull(instant), null),
  /** Since when it is idle without having taken the prompt of its start (prompt-ahead.ts). */
  untakenSince: added(orNull(moment), null),
});

/** How Reeve learns what it does. */
const watch = object({
  ...watchPlan.fields,
  observability,
  transcriptCursor: added(orNull(transcriptCursor), null),
  /** The newest record of its hooks that has counted, by the name of its file, which may not be deleted yet. */
  lastRecord: added(orNull(text), null),
});

/**
 * What a person should see of it at a glance, and whether one has (notice.ts).
 * Revisions instead of instants: no clock can make old news new.
 */
const notice = object({
  /** The last sentence of the agent since it was last asked something; null where there is none, or none that may be kept. */
  said: added(orNull(text), null),
  /** What its terminal showed last when its process ended; null while it lives, or where that may not be kept. */
  lastLine: added(orNull(text), null),
  /** The revision that brought the newest news; 0: none yet. */
  newsRevision: added(count, 0),
  /** The newest revision that somebody has seen; 0: none. */
  seenRevision: added(count, 0),
  /** When an archive of it was last written; null: never. */
  exportedAt: added(orNull(instant), null),
});

/** The sections of a record; what everybody asks for first is beside them. */
export const SECTIONS = {
  identity,
  wish,
  process,
  conversation,
  watch,
  notice,
  /** Came after the others: a record without them is read with what a new one starts with. */
  wakes: { ...wakes, missing: begin(wakes, {}) },
  checkout: { ...checkout, missing: begin(checkout, {}) },
  quota: { ...quotaDraw, missing: begin(quotaDraw, {}) },
  timeouts: { ...timeOutRecord, missing: begin(timeOutRecord, {}) },
} as const;

export const SESSION = object({
  id: matching(SESSION_ID_PATTERN),
  /** Grows by one with every committed change. */
  revision: starts(positive, 1),
  state,
  reason,
  ...SECTIONS,
});
export interface Session extends Of<typeof SESSION> {}

/** Asked to end, and ended: no longer listed by default, its name is free again. */
export function isEnded(session: Session): boolean {
  return session.wish.desired === "stopped" && session.state === "stopped" && session.wish.stop === null;
}
