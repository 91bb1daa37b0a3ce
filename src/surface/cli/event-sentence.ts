/** Every event as one sentence for people. The texts in it came from programs; whoever prints them makes them safe. */
import type { EventView } from "../../client/operation-types.ts";
import type { EventType } from "../../session/event.ts";
import { callerText } from "./caller-text.ts";
import type { Tone } from "./paint.ts";
import { textIn } from "./text-in.ts";

type Data = EventView["data"];
type Sentence = (data: Data) => string;

const reason: Sentence = (data) => textIn(data["reason"], "text") ?? "";
const evidence: Sentence = (data) => textIn(data["evidence"], "detail") ?? "";
const turn: Sentence = (data) => `turn ${value(data, "turn")}`;

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
  const who =
    by === "pane" ? "somebody in its terminal" : by === "agent" ? "the agent" : by === null ? null : callerText(by);
  return `${decision}${who === null ? "" : ` by ${who}`}: ${textIn(data, "title") ?? value(data, "approval_id")}`;
}

function mailSent(data: Data): string {
  const what = value(data, "kind") === "hand-off" ? "a hand-off" : "mail";
  const urgency = value(data, "priority") === "normal" ? "" : `, ${value(data, "priority")} priority`;
  return `${value(data, "to") === "operator" ? "the operator got" : "got"} ${what} (${value(data, "mail_id")}${urgency})`;
}

const SENTENCES: Readonly<Record<EventType, Sentence>> = {
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
  "end-requested": () => "will be ended",
  "end-cancelled": reason,
  "session-seen": () => "was seen by a person",
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
  "turn-started": (data) => `${turn(data)} began`,
  "turn-completed": (data) => `${turn(data)} completed`,
  "turn-failed": (data) => `${turn(data)} failed: ${value(data, "error")}`,
  "turn-interrupted": (data) => `${turn(data)} was interrupted`,
  "turn-disputed": (data) =>
    `${turn(data)} ${value(data, "counted")} by ${value(data, "counted_source")}, but ${value(data, "other")} by ${textIn(data["evidence"], "source") ?? "?"}; the first counts`,
  "turn-corrected": (data) =>
    `${turn(data)} ${value(data, "verdict")} by ${textIn(data["evidence"], "source") ?? "?"}, not ${value(data, "was")} as concluded from ${value(data, "was_source")}`,
  "session-stalled": (data) => `${turn(data)} has stalled: nothing was heard from it for a while`,
  "approval-requested": (data) => `asks: ${textIn(data["approval"], "title") ?? "?"}`,
  "approval-answer-requested": (data) => `will be answered: ${value(data, "decision")}`,
  "approval-settled": settled,
  "approval-answer-failed": (data) => `the answer did not take effect: ${reason(data)}`,
  "message-admitted": (data) => `a message of ${value(data, "bytes")} bytes waits for it`,
  "message-delivered": (data) => `took a message: ${evidence(data)}`,
  "message-refused": (data) => `did not get a message: ${reason(data)}`,
  "message-unknown": (data) => `may not have got a message: ${reason(data)}`,
  "wake-sent": (data) =>
    `was woken for ${value(data, "count")} ${data["count"] === 1 ? "event" : "events"} up to ${value(data, "through")}`,
  "mail-sent": mailSent,
  "mail-read": (data) => `read ${value(data, "mail_id")}`,
  "mail-archived": (data) => `archived ${value(data, "mail_id")}`,
  "mail-retracted": (data) => `${value(data, "mail_id")} was retracted before it was read`,
  "daemon-started": (data) =>
    `started: process ${value(data, "pid")}, version ${value(data, "version")}, ${value(data, "sessions")} sessions`,
  "daemon-stopped": (data) => `stopped: process ${value(data, "pid")}`,
  "daemon-died": (data) => `process ${value(data, "pid")} died: ${firstLine(textIn(data, "error")) ?? "it was killed"}`,
  "runtime-lost": (data) => `${value(data, "runtime")} is gone, and ${value(data, "sessions")} sessions with it`,
  "store-rebuilt": (data) =>
    `the database was rebuilt from ${value(data, "from")}: ${value(data, "sessions")} sessions`,
  "state-file-quarantined": (data) => `${value(data, "path")} was set aside: ${value(data, "why")}`,
  "call-refused": (data) => `refused a call: ${value(data, "why")}`,
  "orphan-found": (data) => `found a process without a session: ${value(data, "what")}`,
  "orphan-reaped": (data) => `ended a process without a session: ${value(data, "what")}`,
};

export const EVENT_TYPES: readonly string[] = Object.keys(SENTENCES);

/** One that this version does not know is named. */
export function eventSentence({ type, data, caller }: EventView): string {
  const sentence = isKnown(type) ? SENTENCES[type](data) : "";
  return `${sentence === "" ? type : sentence}${caller === null ? "" : ` (by ${callerText(caller)})`}`;
}

/** How it is coloured; null: not at all. */
export function eventTone({ type, data }: EventView): Tone | null {
  // Nobody misses it: it is told later, or was not needed any more.
  if (textIn(data["reason"], "code") === "wake-withdrawn") return "quiet";
  if (/-(?:failed|errored|exited|died|lost|abandoned|refused|unknown)$/.test(type)) return "bad";
  if (type === "approval-requested" || type === "session-stalled") return "notice";
  if (type === "activity-changed") return textIn(data["activity"], "asks") === null ? null : "notice";
  if (type === "turn-completed" || type === "session-running") return "good";
  return /^(?:observability|liveness|conversation|session-(?:cleared|seen|planned))/.test(type) ? "quiet" : null;
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(SENTENCES, type);
}

function firstLine(text: string | null): string | null {
  return text === null ? null : (text.split("\n")[0] ?? text);
}
