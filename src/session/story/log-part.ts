/**
 * What Reeve's log tells of a session, as parts of its story. An event may come
 * from the event log, from `session.log` (which also has the monotonic time,
 * and keeps what retention removed from the log) or, in other words, from
 * `session_meta.log`. All three number it alike, so each is told once.
 */
import { fieldsOf, type Fields, textIn } from "../../platform/json-fields.ts";
import { eventSentence } from "../event-sentence.ts";
import { bounded, inOneLine, type StoryKind, type StoryPart } from "./entry.ts";

/** As the API shows it. */
export interface StoryEvent {
  readonly seq: number;
  readonly at: string;
  readonly caller: string | null;
  readonly via?: string | undefined;
  readonly type: string;
  readonly data: Fields;
}

/** The first that fits. */
const KINDS: readonly (readonly [RegExp, StoryKind])[] = [
  [/^(?:turn-|interrupt-requested$)/, "turns"],
  [/^(?:approval-|interrupted$|mode-changed$)/, "approvals"],
  [/^(?:message-|wake-)/, "messages"],
  [/^mail-/, "mail"],
  [
    /^(?:health-changed|liveness-changed|session-stalled|timed-out|interrupt-failed|start-delayed|stop-delayed)$/,
    "health",
  ],
  [/^(?:restart-|restarted$|session-adopted$|environment-lost$)/, "restarts"],
  [/^(?:branch-|worktree-)/, "branches"],
  [/^work-/, "work"],
  [/^capture-/, "api"],
  [/^inbox-/, "inbox"],
  [/^(?:activity-changed|observability-changed|conversation-known|session-seen|session-cleared)$/, "activity"],
];

export function kindOfEvent(type: string): StoryKind {
  return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? "session";
}

/** Lines of a log of a session that could be read; what is none of ours, or torn, is null. */
export function logLine(line: string): Fields | null {
  try {
    const fields = fieldsOf(JSON.parse(line));
    const isOurs = fields["v"] === 1 && typeof fields["kind"] === "string" && Number.isSafeInteger(fields["seq"]);
    return isOurs && !Number.isNaN(Date.parse(textIn(fields, "at") ?? "")) ? fields : null;
  } catch {
    return null;
  }
}

/** A mail, with the number of its `mail-sent` event, which is one of the recipient alone. */
export interface StoryMail {
  readonly seq: number;
  readonly at: string;
  readonly isSent: boolean;
  /** The other party, by name. */
  readonly with: string;
  readonly actor: string;
  readonly kind: string;
  readonly subject: string;
  readonly body: string;
}

export function logParts(sources: {
  readonly events: readonly StoryEvent[];
  /** Of session.log and session_meta.log. */
  readonly logged?: readonly Fields[];
  readonly meta?: readonly Fields[];
  /** That it got or sent. */
  readonly mails?: readonly StoryMail[];
}): readonly StoryPart[] {
  const logged = bySeq((sources.logged ?? []).filter(({ kind }) => kind !== "log"));
  const meta = bySeq(sources.meta ?? []);
  const events = new Map(sources.events.map((event) => [event.seq, event]));
  const mails = new Map((sources.mails ?? []).map((mail) => [mail.seq, mail]));
  const numbers = new Set([...events.keys(), ...logged.keys(), ...meta.keys(), ...mails.keys()]);
  return [...numbers]
    .toSorted((one, other) => one - other)
    .map((seq) => {
      const mail = mails.get(seq);
      const part = partOf(seq, events.get(seq) ?? null, logged.get(seq) ?? null, meta.get(seq) ?? null);
      return mail === undefined ? part : withMail(part, mail);
    });
}

/** Of two lines with one number the first counts: a daemon that was killed may have begun to write one again. */
function bySeq(lines: readonly Fields[]): ReadonlyMap<number, Fields> {
  return new Map(lines.toReversed().map((line) => [Number(line["seq"]), line]));
}

function partOf(seq: number, event: StoryEvent | null, logged: Fields | null, meta: Fields | null): StoryPart {
  const line = logged ?? meta ?? {};
  const type = event?.type ?? String(line["kind"]);
  const told = event?.data ?? (logged === null ? withoutCommon(line) : fieldsOf(logged["data"]));
  const via = event?.via ?? textIn(logged, "via") ?? textIn(meta, "via");
  const data = via === null || "via" in told ? told : { ...told, via };
  const caller = event?.caller ?? textIn(logged, "caller");
  const turn = numberOf(data["turn"]) ?? numberOf(meta?.["turn"]);
  const sentence = eventSentence({ type, data, caller: null, session_id: "" });
  return {
    source: "log",
    seq,
    at: event?.at ?? textIn(line, "at") ?? "",
    mono: numberOf(logged?.["mono_ms"]) ?? numberOf(meta?.["mono_ms"]),
    kind: kindOfEvent(type),
    type,
    turn,
    actor: textIn(meta, "actor") ?? actorOf(type, data, caller),
    what: inOneLine(sentence === type ? wordsOf(type, data) : sentence),
    text: textOf(type, data),
    failed: isFailure(type, data),
    ms: numberOf(meta?.["after_ms"]),
    data,
  };
}

/** Of a line that no event of this version has a sentence for. */
function wordsOf(type: string, { from, to }: Fields): string {
  const words = type.replaceAll("-", " ");
  return typeof from === "string" && typeof to === "string" ? `${words}: it was ${from}, now it is ${to}` : words;
}

function withMail(part: StoryPart, mail: StoryMail): StoryPart {
  const what = mail.kind === "hand-off" ? "a hand-off" : "mail";
  return {
    ...part,
    at: part.at === "" ? mail.at : part.at,
    kind: "mail",
    type: "mail-sent",
    actor: mail.actor,
    what: inOneLine(`${mail.isSent ? `sent ${what} to` : `got ${what} from`} ${mail.with}: ${mail.subject}`),
    text: bounded(mail.body),
    data: { ...part.data, subject: mail.subject },
  };
}

function actorOf(type: string, data: Fields, caller: string | null): string {
  const rule = textIn(data, "rule");
  if (rule !== null && type !== "approval-requested") return `rule:${rule}`;
  const by = textIn(data, "by");
  if (by === "pane") return "terminal";
  if (by !== null) return by;
  if (caller !== null) return caller === "system" ? "reeve" : caller;
  return /^(?:turn-(?:started|completed|failed|interrupted)|approval-requested|activity-changed)$/.test(type)
    ? "agent"
    : "reeve";
}

const WITHDRAWN = new Set(["wake-withdrawn", "resume-withdrawn", "message-cancelled"]);

function isFailure(type: string, data: Fields): boolean {
  if (type === "turn-corrected") return data["verdict"] === "failed";
  if (type === "health-changed") return textIn(fieldsOf(data["health"]), "verdict") === "hung";
  if (WITHDRAWN.has(textIn(fieldsOf(data["reason"]), "code") ?? "")) return false;
  if (type === "session-exited") return textIn(data, "failure") !== null;
  return /-(?:failed|errored|lost|abandoned|refused|unknown|mismatched|stalled)$|^(?:timed-out|capture-interrupted)$/.test(
    type,
  );
}

/** More than the sentence has: the question as the agent asked it. */
function textOf(type: string, data: Fields): string | null {
  if (type !== "approval-requested") return null;
  const approval = fieldsOf(data["approval"]);
  const detail = textIn(approval, "detail") ?? textIn(approval, "input");
  return detail === null ? null : bounded(detail);
}

const COMMON = new Set(["v", "seq", "at", "mono_ms", "kind", "actor"]);

function withoutCommon(line: Fields): Fields {
  return Object.fromEntries(Object.entries(line).filter(([name]) => !COMMON.has(name)));
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
