/** Every event as one sentence for people. The texts in it came from programs; whoever prints them makes them safe. */
import { localTime } from "../platform/local-time.ts";
import { textIn } from "./text-in.ts";
import { callerText, surfaceText } from "./caller-text.ts";
import type { EventType } from "./event.ts";

type Data = Readonly<Record<string, unknown>>;

/** An event as the API shows it. */
export interface ShownEvent {
  readonly type: string;
  readonly data: Data;
  readonly caller: string | null;
  readonly via?: string | null | undefined;
  readonly session_id: string | null;
}

/** `isOfSession`: the line names a session already. */
type Sentence = (data: Data, isOfSession: boolean) => string;

const reason = (data: Data): string => textIn(data["reason"], "text") ?? "";
const evidence = (data: Data): string => textIn(data["evidence"], "detail") ?? "";
const turn = (data: Data): string => `turn ${value(data, "turn")}`;

function value(data: Data, name: string): string {
  const found = data[name];
  return typeof found === "string" || typeof found === "number" ? `${found}` : "?";
}

function activity(data: Data): string {
  const asks = textIn(data["activity"], "asks");
  switch (textIn(data["activity"], "status")) {
    case "working":
      return "is working";
    case "idle":
      return "is idle";
    case "starting":
      return "is starting";
    case "awaiting-approval":
      return `asks for approval${asks === null ? "" : `: ${asks}`}`;
    case "awaiting-input":
      return `asks for something${asks === null ? "" : `: ${asks}`}`;
    default:
      return "does not say what it is doing";
  }
}

function observability(data: Data): string {
  const why = textIn(data["observability"], "reason") ?? "";
  switch (textIn(data["observability"], "status")) {
    case "observable":
      return "its transcript can be read";
    case "lost":
      return `its transcript cannot be read any more: ${why}`;
    default:
      return `its transcript is not there yet: ${why}`;
  }
}

function settled(data: Data): string {
  const decision = textIn(data, "decision") ?? "is no longer asked";
  const by = textIn(data, "by");
  const rule = textIn(data, "rule");
  const who =
    rule !== null
      ? `the rule "${rule}"`
      : by === "pane"
        ? "somebody in its terminal"
        : by === "agent"
          ? "the agent"
          : by === null
            ? null
            : `${callerText(by)}${through(textIn(data, "via"))}`;
  return `${decision}${who === null ? "" : ` by ${who}`}: ${textIn(data, "title") ?? value(data, "approval_id")}`;
}

function mailSent(data: Data): string {
  const what = value(data, "kind") === "hand-off" ? "a hand-off" : "mail";
  const urgency = value(data, "priority") === "normal" ? "" : `, ${value(data, "priority")} priority`;
  return `${value(data, "to") === "operator" ? "the operator got" : "got"} ${what} (${value(data, "mail_id")}${urgency})`;
}

function wakeSent(data: Data): string {
  const restarted = data["is_recovery"] === true ? ["was told that it was restarted in the middle of a turn"] : [];
  const count = `${value(data, "count")} ${data["count"] === 1 ? "event" : "events"} up to ${value(data, "through")}`;
  return [...restarted, ...(data["count"] === 0 && restarted.length > 0 ? [] : [`was woken for ${count}`])].join("; ");
}

function health(data: Data): string {
  const now = textIn(data["health"], "verdict") ?? "?";
  if (now === "hung") return "hangs: its process does not run although it should";
  if (now === "slow") return "is slow: little is heard from its turn, but it is at work";
  return `was ${value(data, "from")}, now it is ${now}`;
}

function limitOf(data: Data): string {
  return value(data, "limit") === "unnamed" ? "a usage limit" : `the limit ${value(data, "limit")}`;
}

function workSentence(data: Data): string {
  const why = textIn(data, "why");
  const is = data["state"] === "failed" ? "failed" : `is ${value(data, "state")}`;
  const became = data["from"] === data["state"] ? `was changed (${value(data, "change")})` : is;
  return `work item ${value(data, "work_id")} (${value(data, "title")}) ${became}${why === null ? "" : `: ${why}`}`;
}

/** The title begins with the name of the session that it is about. */
function needsYou(data: Data, isOfSession: boolean): string {
  const title = value(data, "title");
  return `needs you: ${isOfSession ? title.replace(/^\S+/, "it") : title}`;
}

function reached(data: Data): string {
  const next = value(data, "confidence") === "none" ? "Reeve tries again at" : "it resets at";
  return `${limitOf(data)} of ${value(data, "account")} is reached; ${next} ${moment(data, "until_at")}; ${sessions(data)} on that account`;
}

function sessions(data: Data): string {
  return `${value(data, "sessions")} ${data["sessions"] === 1 ? "session" : "sessions"}`;
}

function moment(data: Data, name: string): string {
  return localTime(new Date(value(data, name)), new Date());
}

const SENTENCES: Readonly<Record<EventType, Sentence>> = {
  "inbox-opened": needsYou,
  "inbox-closed": (data) => `does not need you any more: ${value(data, "why")}`,
  "inbox-acknowledged": () => "an item of the inbox was acknowledged",
  "inbox-snoozed": (data) => `an item of the inbox was put off until ${moment(data, "until_at")}`,
  "quota-parked": reached,
  "quota-opened": (data) =>
    textIn(data, "replaced_by") === null
      ? `${limitOf(data)} of ${value(data, "account")} has been reset`
      : `the limit of ${value(data, "account")} that is reached is ${value(data, "replaced_by")}`,
  "quota-warned": (data) =>
    `${value(data, "used_percent")} % of the limit ${value(data, "limit")} of ${value(data, "account")} are used`,
  "session-planned": (data) => `asked for: ${value(data, "agent")}, role ${value(data, "role")}`,
  "session-starting": reason,
  "session-running": reason,
  "session-adopted": (data) => `found again: ${evidence(data)}`,
  "start-delayed": reason,
  "environment-lost": reason,
  "pause-requested": () => "will be paused",
  "session-paused": reason,
  "resume-requested": () => "will be resumed",
  "session-resumed": reason,
  "restart-requested": () => "will be restarted",
  "restart-scheduled": reason,
  "restart-abandoned": reason,
  "restart-policy-changed": (data) =>
    `its restart policy is ${value(data, "policy")} now; it was ${value(data, "from")}`,
  "end-requested": () => "will be ended",
  "end-cancelled": reason,
  "session-seen": () => "was seen by a person",
  "session-exported": (data) => `was exported: an archive of ${value(data, "bytes")} bytes`,
  "session-renamed": (data) => `was called ${value(data, "from")} before`,
  "stop-delayed": (data) => `has not ended yet: ${reason(data)}`,
  "session-exited": reason,
  "session-cleared": (data) => `nothing of it is left: ${evidence(data)}`,
  "session-errored": reason,
  "session-stopped": reason,
  "liveness-changed": (data) =>
    `its process was ${value(data, "from")}, now it is ${textIn(data["liveness"], "status") ?? "?"}`,
  "observability-changed": observability,
  "activity-changed": activity,
  "conversation-known": (data) => `its conversation is ${value(data, "native_id")}`,
  "model-changed": (data) => `its model was ${value(data, "from")}, now it is ${value(data, "to")}`,
  "mode-changed": (data) => `its mode was ${value(data, "from")}, now it is ${value(data, "to")}`,
  "tools-late": () => "Reeve's tools came late: its first turn began without them",
  "conversation-compacted": () => "its conversation was compacted",
  "persistence-warned": (data) => `${value(data, "what")} cannot be kept: ${value(data, "why")}`,
  "persistence-resumed": (data) =>
    `${value(data, "what")} is kept again${data["missing"] === 0 ? "; nothing is missing" : `; ${value(data, "missing")} lines are missing`}`,
  "capture-interrupted": (data) =>
    `the capture proxy was killed: calls to the model between ${moment(data, "last_at")} and ${moment(data, "again_at")} may be missing`,
  "turn-started": (data) => `${turn(data)} began`,
  "turn-completed": (data) => `${turn(data)} completed`,
  "turn-failed": (data) => `${turn(data)} failed: ${value(data, "error")}`,
  "turn-interrupted": (data) =>
    `${turn(data)} was interrupted${textIn(data, "timed_out") === null ? "" : " by its time-out"}`,
  "turn-disputed": (data) =>
    `${turn(data)} ${value(data, "counted")} by ${value(data, "counted_source")}, but ${value(data, "other")} by ${textIn(data["evidence"], "source") ?? "?"}; the first counts`,
  "turn-corrected": (data) =>
    `${turn(data)} ${value(data, "verdict")} by ${textIn(data["evidence"], "source") ?? "?"}, not ${value(data, "was")} as concluded from ${value(data, "was_source")}`,
  "branch-mismatched": reason,
  "branch-restored": (data) => `its checkout is on branch ${value(data, "branch")} again`,
  "branch-changed": (data) => `its checkout was on ${value(data, "from")}, now it is on ${value(data, "now")}`,
  "session-stalled": (data) => `${turn(data)} has stalled: nothing was heard from it for a while`,
  "timed-out": reason,
  "interrupt-requested": reason,
  "interrupt-failed": reason,
  "session-held": (data) => `is held until ${moment(data, "until_at")}: ${value(data, "why")}`,
  "hold-ending": (data) =>
    `is held only until ${moment(data, "until_at")}, and is then ended by its idle time or its age`,
  "hold-released": (data) => `is not held any more; it was held because: ${value(data, "why")}`,
  "hold-lapsed": (data) => `its hold is over; it was held because: ${value(data, "why")}`,
  "health-changed": health,
  "approval-requested": (data) => `asks: ${textIn(data["approval"], "title") ?? "?"}`,
  "approval-answer-requested": (data) => `will be answered: ${value(data, "decision")}`,
  "approval-settled": settled,
  "approval-answer-failed": (data) => `the answer did not take effect: ${reason(data)}`,
  "message-admitted": (data) => `a message of ${value(data, "bytes")} bytes waits for it`,
  "message-delivered": (data) => `took a message: ${evidence(data)}`,
  "message-refused": (data) => `did not get a message: ${reason(data)}`,
  "message-unknown": (data) => `may not have got a message: ${reason(data)}`,
  "wake-sent": wakeSent,
  "mail-sent": mailSent,
  "mail-read": (data) => `read ${value(data, "mail_id")}`,
  "mail-archived": (data) => `archived ${value(data, "mail_id")}`,
  "mail-retracted": (data) => `${value(data, "mail_id")} was retracted before it was read`,
  "work-added": (data) => `work item ${value(data, "work_id")} was added: ${value(data, "title")}`,
  "work-changed": workSentence,
  "worktree-made": (data) =>
    `${data["is_new"] === true ? "got a worktree" : "uses a worktree again"}: ${value(data, "path")}, branch ${value(data, "branch")}${data["base"] === null ? "" : ` from ${value(data, "base")} (${value(data, "source")})`} at ${value(data, "commit").slice(0, 10)}`,
  "worktree-kept": (data) => `its worktree ${value(data, "path")} is kept: ${value(data, "why")}`,
  "worktree-saved": (data) => `the work in ${value(data, "path")} was saved as ${value(data, "ref")}`,
  "worktree-removed": (data) =>
    `its worktree ${value(data, "path")} was removed${data["saved_ref"] === null ? "" : `; its work is saved as ${value(data, "saved_ref")}`}`,
  "daemon-started": (data) =>
    `started: process ${value(data, "pid")}, version ${value(data, "version")}, ${sessions(data)}`,
  "daemon-stopped": (data) => `stopped: process ${value(data, "pid")}`,
  "daemon-died": (data) => `process ${value(data, "pid")} died: ${firstLine(textIn(data, "error")) ?? "it was killed"}`,
  "runtime-lost": (data) => `${value(data, "runtime")} is gone, and ${sessions(data)} with it`,
  "store-rebuilt": (data) => `the database was rebuilt from ${value(data, "from")}: ${sessions(data)}`,
  "store-put-back": (data) =>
    `an older copy of the database was put back: it ends at ${value(data, "head")}, and ${sessions(data)} knew of events up to ${value(data, "highest")}`,
  "state-file-quarantined": (data) => `${value(data, "path")} was set aside: ${value(data, "why")}`,
  "call-refused": (data) =>
    `refused ${data["times"] === undefined ? "a call" : `${value(data, "times")} more calls`}: ${value(data, "why")}`,
  "notification-abandoned": (data) =>
    `gave up a notification by ${value(data, "channel")} after ${value(data, "attempts")} attempts: ${value(data, "why")}`,
  pruned: (data) =>
    `removed what was old: ${value(data, "sessions")} ended sessions, ${value(data, "events")} events, ${value(data, "mails")} mails`,
  "events-missed": (data) =>
    `events between ${value(data, "since")} and ${value(data, "through")} were removed because they were old`,
  "orphan-found": (data) => `found a process without a session: ${value(data, "what")}`,
  "orphan-reaped": (data) => `ended a process without a session: ${value(data, "what")}`,
};

export const EVENT_TYPES: readonly string[] = Object.keys(SENTENCES);

/** One that this version does not know is named. */
export function eventSentence({ type, data, caller, via = null, session_id: id }: ShownEvent): string {
  const sentence = isKnown(type) ? SENTENCES[type](data, id !== null) : "";
  return `${sentence === "" ? type : sentence}${caller === null ? "" : ` (by ${callerText(caller)}${through(via)})`}`;
}

function through(via: string | null): string {
  return via === null ? "" : ` ${surfaceText(via)}`;
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(SENTENCES, type);
}

function firstLine(text: string | null): string | null {
  return text === null ? null : (text.split("\n")[0] ?? text);
}
