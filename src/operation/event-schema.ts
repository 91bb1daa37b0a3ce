/**
 * Every type of event as the API shows it, with a description of each field.
 * The events themselves are defined in session/event.ts; a test compares the
 * two. `viewEvent` (read-events.ts) turns an event into what the API shows.
 */
import * as z from "zod/mini";
import type { EventType } from "../session/event.ts";
import { count, instant, instantOrNull, text, textOrNull, yesOrNo } from "./field.ts";
import {
  activityStatus,
  evidenceSchema,
  exitSchema,
  livenessStatus,
  observabilityStatus,
  verdictSchema,
} from "./session-view.ts";

export interface EventView {
  readonly seq: number;
  readonly at: string;
  readonly session_id: string | null;
  readonly caller: string | null;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Made when somebody asks for the description of the API: it takes memory
 * that nothing else needs. Its types are for readers; a program that was made
 * for an earlier version may meet others.
 */
export const eventSchema: z.ZodMiniType<EventView, EventView> = z.lazy(() => {
  const head = {
    seq: count("Its number in the log: the cursor of this event."),
    at: instant("When it was recorded."),
    session_id: textOrNull("The session; null where it is about Reeve itself."),
    caller: textOrNull("Who asked for it: `operator`, `session:<id>` or `system`; null where nobody did."),
  };
  const events = Object.entries(describeEvents());
  const schemas = events.map(([type, [description, data]]) =>
    z
      .object({
        ...head,
        type: z.literal(type).check(z.describe("What happened.")),
        data: z.object(data).check(z.describe("What belongs to this type of event.")),
      })
      .register(z.globalRegistry, { id: eventName(type), description }),
  );
  return z
    .discriminatedUnion("type", schemas as [(typeof schemas)[number], ...typeof schemas])
    .register(z.globalRegistry, {
      id: "Event",
      description: "Something that happened. Later versions may add types of events: ignore those you do not know.",
      discriminator: {
        propertyName: "type",
        mapping: Object.fromEntries(events.map(([type]) => [type, `#/components/schemas/${eventName(type)}`])),
      },
    });
});

/** `turn-completed` is TurnCompletedEvent. */
function eventName(type: string): string {
  return `${type.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

/** For each type: what it means, and what its data holds. */
export function describeEvents() {
  const evidence = evidenceSchema.check(z.describe("How that is known."));
  const reason = z
    .object({
      code: text("For programs: a stable word."),
      text: text("For people: a sentence."),
      evidence,
    })
    .register(z.globalRegistry, { id: "Reason", description: "Why something happened." })
    .check(z.describe("Why."));
  const incarnation = count("Which start of the session this is about; the first is 1.");
  const turn = count("Which turn of the session this is about; the first is 1.");
  const messageId = text("The message.");
  const approvalId = text("The question.");
  const mail = {
    mail_id: text("The mail."),
    thread: text("The thread that it belongs to."),
    to: text("Whose mail it is: the id of a session, or `operator`."),
  };
  const sessions = count("How many sessions that concerns.");
  const optionalTurn = z.optional(z.int()).check(z.describe("In which turn; missing where that is not known."));
  const source = evidenceSchema.shape.source;
  const pid = z.nullable(z.int()).check(z.describe("Its process; null where it has none on this machine."));
  const isAfterExit = z
    .optional(z.boolean())
    .check(z.describe("True: `session-exited` has reported it already, so it ends no further wait."));
  const from = "What it was before.";
  const what = text("What was found, such as a process with its id.");
  const decision = z.enum(["approved", "denied"]);

  const approval = z
    .object({
      id: text("The question; unique within its session."),
      kind: z.enum(["command", "edit", "tool", "other"]).check(z.describe("What kind of thing the agent wants to do.")),
      title: text("What is asked, in one line."),
      subject: textOrNull("The command, the file or the tool's input, in full; null where it is not known."),
      cwd: textOrNull("The directory in which it would be done; null where it is not known."),
      reason: textOrNull("Why, in the agent's words; null where it gave none."),
    })
    .check(z.describe("What is asked."));

  const askedBy = z
    .optional(z.string())
    .check(z.describe("Who had asked for it: `operator`, `session:<id>` or `system`; missing where nobody had."));

  return {
    "session-planned": [
      "A session was recorded.",
      { name: text("Its name."), agent: text("Its agent."), role: text("Its role.") },
    ],
    "session-starting": ["A session is being started.", { incarnation, reason }],
    "session-running": ["Its process was started.", { incarnation, reason, pid }],
    "session-adopted": [
      "A daemon found the session again that an earlier daemon had started.",
      { incarnation, pid, evidence },
    ],
    "start-delayed": ["It could not be started, and will be tried again.", { incarnation, reason }],
    "environment-lost": [
      "The daemon died before the session had its environment, so it was not started.",
      { incarnation, reason },
    ],
    "pause-requested": ["Somebody asked to pause it.", { reason }],
    "session-paused": ["It is paused.", { reason }],
    "resume-requested": ["Somebody asked to resume it.", { reason }],
    "session-resumed": ["It goes on after a pause.", { reason }],
    "restart-requested": ["Somebody asked to start it again.", { reason }],
    "restart-scheduled": [
      "Its process ended, and Reeve will start it again.",
      { due_at: instant("When it will be started."), reason },
    ],
    "restart-abandoned": ["Its process ended too often, so Reeve does not start it again.", { reason }],
    "end-requested": ["Somebody asked to end it.", { reason }],
    "end-cancelled": ["Its end was cancelled.", { reason }],
    "session-seen": ["Somebody has seen how its last turn or its process ended.", {}],
    "session-renamed": ["It has another name.", { from: text("Its name before."), name: text("Its name now.") }],
    "stop-delayed": ["Its processes could not be ended yet, and Reeve tries again.", { incarnation, reason }],
    "session-exited": [
      "Its process ended.",
      { incarnation, exit: exitSchema.check(z.describe("How it ended.")), reason, asked_by: askedBy },
    ],
    "session-cleared": ["Nothing of that start is left: no process and no terminal.", { incarnation, evidence }],
    "session-errored": ["It should run, but does not.", { reason, is_after_exit: isAfterExit, asked_by: askedBy }],
    "session-stopped": ["It is over.", { reason, is_after_exit: isAfterExit, asked_by: askedBy }],
    "liveness-changed": [
      "What is known of its process changed.",
      {
        from: livenessStatus.check(z.describe(from)),
        liveness: z
          .object({ status: livenessStatus.check(z.describe("What it is now.")), evidence })
          .check(z.describe("Whether its process is there.")),
      },
    ],
    "observability-changed": [
      "What is known of its transcript changed.",
      {
        from: observabilityStatus.check(z.describe(from)),
        observability: z
          .object({
            status: observabilityStatus.check(z.describe("What it is now.")),
            expected: yesOrNo("Whether it is normal for this agent at this moment that there is no transcript."),
            reason: text("Why, in a sentence."),
            transcript_path: textOrNull("The agent's own file; null until it is known."),
          })
          .check(z.describe("Whether its transcript can be read.")),
      },
    ],
    "activity-changed": [
      "It does something else now, or asks for an input.",
      {
        from: activityStatus.check(z.describe(from)),
        activity: z
          .object({
            status: activityStatus.check(z.describe("What it does now.")),
            asks: textOrNull("What it asks, while it waits for an approval or an input."),
            evidence,
          })
          .check(z.describe("What it is doing.")),
        is_reworded: z
          .optional(z.boolean())
          .check(z.describe("True: the same question as before, in the words of another source.")),
      },
    ],
    "conversation-known": [
      "The agent's own id of the conversation is known.",
      { native_id: text("That id."), evidence },
    ],
    "turn-started": ["A turn began.", { turn, evidence }],
    "turn-completed": ["A turn ended well.", { turn, evidence }],
    "turn-failed": ["A turn failed.", { turn, error: text("Why it failed."), evidence }],
    "turn-interrupted": ["A turn was interrupted.", { turn, evidence, asked_by: askedBy }],
    "turn-disputed": [
      "Two sources saw the same turn end and reported different outcomes; the first report counts.",
      {
        turn,
        counted: verdictSchema.check(z.describe("The outcome that counts.")),
        counted_source: source.check(z.describe("Who reported it.")),
        other: verdictSchema.check(z.describe("The outcome that the other source reported.")),
        evidence,
      },
    ],
    "turn-corrected": [
      "Reeve had only concluded how a turn ended; a source that saw the end reported something else.",
      {
        turn,
        verdict: verdictSchema.check(z.describe("How it ended.")),
        error: textOrNull("Why it failed; null where it did not fail."),
        was: verdictSchema.check(z.describe("What Reeve had said before.")),
        was_source: source.check(z.describe("What Reeve had concluded it from.")),
        evidence,
      },
    ],
    "session-stalled": ["Reeve has heard nothing from the turn under way for a while.", { turn, evidence }],
    "approval-requested": [
      "The agent asks for an approval.",
      {
        approval,
        evidence,
        replaces: z
          .optional(z.string())
          .check(z.describe("The id under which the same question was asked before; nobody is woken again.")),
      },
    ],
    "approval-answer-requested": [
      "Somebody answered a question; Reeve gives the answer to the agent.",
      { approval_id: approvalId, decision: decision.check(z.describe("The answer.")), turn: optionalTurn },
    ],
    "approval-settled": [
      "A question is no longer asked.",
      {
        approval_id: approvalId,
        title: text("What was asked."),
        decision: z.nullable(decision).check(z.describe("How it was answered; null where nobody could see that.")),
        by: text("Who answered: `operator`, `session:<id>` or `system` through Reeve, `pane`, or `agent`."),
        evidence,
      },
    ],
    "approval-answer-failed": [
      "An answer could not be given; the agent still asks.",
      { approval_id: approvalId, reason },
    ],
    "message-admitted": [
      "A message was recorded, and will be typed as soon as the session can take it.",
      {
        message_id: messageId,
        bytes: count("How long it is."),
        is_wake: z
          .optional(z.boolean())
          .check(z.describe("True: Reeve wakes the session; nobody asked anything of it.")),
      },
    ],
    "message-delivered": ["The agent took a message.", { message_id: messageId, turn: optionalTurn, evidence }],
    "message-refused": ["A message will not be typed.", { message_id: messageId, reason }],
    "message-unknown": [
      "A message was typed, and nobody could see whether it was taken.",
      { message_id: messageId, reason },
    ],
    "wake-sent": [
      "Reeve told the session, in one line, that something happened to a session that it started, or that it has mail.",
      {
        message_id: messageId,
        since: count("It is about what came after this cursor."),
        through: count("It is about everything up to this cursor; the session is not woken for that again."),
        count: count("How many events and mails it is about."),
      },
    ],
    "mail-sent": [
      "Mail came for a session, or for the operator. What it says is in `read_mail`.",
      {
        ...mail,
        from: text("Who sent it: `operator`, `session:<id>` or `system`."),
        from_name: textOrNull("The name that the sending session had; null where no session sent it."),
        kind: z.enum(["note", "hand-off"]).check(z.describe("A hand-off passes work on to its recipient.")),
        priority: z.enum(["low", "normal", "high"]).check(z.describe("How urgent its sender finds it.")),
      },
    ],
    "mail-read": ["Its recipient has read a mail.", mail],
    "mail-archived": ["Its recipient has archived a mail.", mail],
    "mail-retracted": ["Its sender took a mail back before it was read.", mail],
    "daemon-started": [
      "A daemon was started.",
      { pid: count("Its process."), version: text("Its version."), sessions },
    ],
    "daemon-stopped": ["The daemon was stopped.", { pid: count("Its process.") }],
    "daemon-died": [
      "The daemon before this one was killed or died of an error.",
      {
        pid,
        version: textOrNull("Its version; null where that is not known."),
        started_at: instantOrNull("When it was started; null where that is not known."),
        error: textOrNull("The error it died of, in its own words; null where it was killed."),
      },
    ],
    "runtime-lost": [
      "A runtime ended with the sessions in it.",
      { runtime: text("Which runtime."), sessions, evidence },
    ],
    "store-rebuilt": [
      "The database could not be read, so Reeve rebuilt it from the files of the sessions.",
      { from: text("What it was rebuilt from."), sessions, quarantined: text("Where the old one was put.") },
    ],
    "state-file-quarantined": [
      "A session's state.json could not be used, and was put aside.",
      { path: text("Where it was."), why: text("What was wrong with it.") },
    ],
    "call-refused": [
      "A session called what it may not, or somebody called with a pass that is not good.",
      {
        operation: text("What was called."),
        target: textOrNull("What the call named, as it was written; null where it named nothing."),
        code: text("For programs: a stable word."),
        why: text("For people: a sentence."),
      },
    ],
    "orphan-found": ["Something was found that a session had left behind.", { what, evidence }],
    "orphan-reaped": ["Something that a session had left behind was ended.", { what, evidence }],
  } as const satisfies Record<EventType, readonly [string, z.core.$ZodShape]>;
}
