/**
 * Every type of event as the API shows it, with a description of each field.
 * The events themselves are defined in session/event.ts; a test compares the
 * two. `viewEvent` (read-events.ts) turns an event into what the API shows.
 */
import * as z from "zod/mini";
import type { SessionEvent } from "../session/event.ts";
import { FAILURE_KINDS } from "../session/failure.ts";
import { TIME_OUT_ACTIONS, TIME_OUT_NAMES } from "../session/time-out.ts";
import { count, instant, restartPolicySchema, surface, text, textOrNull, yesOrNo } from "./field.ts";
import { branchPolicy } from "./branch-view.ts";
import { type CommonFields, commonFields, type EventView, wakeField } from "./event-fields.ts";
import { describeHomeEvents } from "./home-event-schema.ts";
import {
  activityStatus,
  exitSchema,
  healthSchema,
  healthVerdict,
  livenessStatus,
  observabilityStatus,
  verdictSchema,
} from "./session-view.ts";

export type { EventView };

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
    via: surface("How they asked"),
    wake: wakeField(),
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
  const common = commonFields();
  return { ...describeSessionEvents(common), ...describeHomeEvents(common) };
}

function describeSessionEvents({ evidence, reason, source, pid }: CommonFields) {
  const incarnation = count("Which start of the session this is about; the first is 1.");
  const turn = count("Which turn of the session this is about; the first is 1.");
  const messageId = text("The message.");
  const approvalId = text("The question.");
  const optionalTurn = z.optional(z.int()).check(z.describe("In which turn; missing where that is not known."));
  const isAfterExit = z
    .optional(z.boolean())
    .check(z.describe("True: `session-exited` has reported it already, so it ends no further wait."));
  const timedOut = z
    .optional(z.enum(TIME_OUT_NAMES))
    .check(z.describe("The time-out by which Reeve did it; missing where none did."));
  const from = "What it was before.";
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

  const failure = z
    .optional(z.enum(FAILURE_KINDS))
    .check(z.describe("Of which kind the failure is; missing where it did not fail."));
  const rule = z.optional(z.string()).check(z.describe("The approval rule that decided it; missing where none did."));

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
    "restart-abandoned": [
      "Its process ended too often, so Reeve does not start it again. The reason says how often, since when, and what was last on its screen.",
      { reason },
    ],
    "restart-policy-changed": [
      "Somebody changed whether Reeve starts it again.",
      {
        from: restartPolicySchema("Its restart policy before."),
        policy: restartPolicySchema("Its restart policy now."),
      },
    ],
    "end-requested": ["Somebody asked to end it.", { reason }],
    "end-cancelled": ["Its end was cancelled.", { reason }],
    "session-seen": ["Somebody has seen how its last turn or its process ended.", {}],
    "session-exported": ["An archive of it was written.", { bytes: count("How large the archive is.") }],
    "session-renamed": ["It has another name.", { from: text("Its name before."), name: text("Its name now.") }],
    "stop-delayed": ["Its processes could not be ended yet, and Reeve tries again.", { incarnation, reason }],
    "session-exited": [
      "Its process ended.",
      {
        incarnation,
        exit: exitSchema.check(z.describe("How it ended.")),
        reason,
        failure,
        asked_by: askedBy,
        timed_out: timedOut,
      },
    ],
    "session-cleared": ["Nothing of that start is left: no process and no terminal.", { incarnation, evidence }],
    "session-errored": [
      "It should run, but does not.",
      { reason, is_after_exit: isAfterExit, asked_by: askedBy, timed_out: timedOut },
    ],
    "session-stopped": ["It is over.", { reason, is_after_exit: isAfterExit, asked_by: askedBy, timed_out: timedOut }],
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
    "model-changed": [
      "Its agent works with another model than before.",
      { from: text("The model before."), to: text("The model now."), evidence },
    ],
    "mode-changed": [
      "Its agent may do more or less without asking than before.",
      { from: text("The mode before, in the agent's words."), to: text("The mode now."), evidence },
    ],
    "tools-late": [
      "Reeve's MCP server had not told its tools when the agent's first turn began: it may work without them, until the next.",
      { evidence },
    ],
    "conversation-compacted": ["Its agent replaced the conversation by a shorter one.", { evidence }],
    "persistence-warned": [
      "Something of a session with `persist_session` cannot be kept now. The session goes on.",
      { what: text("What cannot be kept: the name of a file."), why: text("Why, in a sentence.") },
    ],
    "persistence-resumed": [
      "It is kept again.",
      { what: text("What is kept again."), missing: count("How many lines are lost for good.") },
    ],
    "capture-interrupted": [
      "The capture proxy was killed. Calls to the model between these times may be missing in `session_oai_raw.log`, or their ends.",
      { last_at: instant("Of the last line that was written."), again_at: instant("When Reeve found it gone.") },
    ],
    "turn-started": ["A turn began.", { turn, evidence }],
    "turn-completed": ["A turn ended well.", { turn, evidence }],
    "turn-failed": ["A turn failed.", { turn, error: text("Why it failed, in the agent's words."), failure, evidence }],
    "turn-interrupted": [
      "A turn was interrupted.",
      {
        turn,
        evidence,
        asked_by: askedBy,
        message_id: z
          .optional(z.string())
          .check(z.describe("The message that was to interrupt it; missing where none was.")),
        timed_out: timedOut,
      },
    ],
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
        failure,
        was: verdictSchema.check(z.describe("What Reeve had said before.")),
        was_source: source.check(z.describe("What Reeve had concluded it from.")),
        evidence,
      },
    ],
    "branch-mismatched": [
      "Its checkout is not on the branch that the session declared.",
      {
        declared: text("The branch that it declared."),
        actual: textOrNull("The branch that is checked out; null where none is."),
        policy: branchPolicy.check(
          z.describe("warn: it goes on. pause: it is paused. error: it takes no messages until the branch is right."),
        ),
        reason,
      },
    ],
    "branch-restored": ["Its checkout is on the declared branch again.", { branch: text("That branch."), evidence }],
    "branch-changed": [
      "Another branch was checked out where it works; it had declared none.",
      {
        from: textOrNull("The branch or commit before; null where there was none."),
        now: textOrNull("The branch or commit now; null where there is none."),
        evidence,
      },
    ],
    "session-stalled": ["Reeve has heard nothing from the turn under way for a while.", { turn, evidence }],
    "timed-out": [
      "Something lasted too long. What Reeve does about it follows.",
      {
        which: z.enum(TIME_OUT_NAMES).check(z.describe("Which time-out.")),
        after_seconds: z.number().check(z.describe("After how long.")),
        action: z.enum(TIME_OUT_ACTIONS).check(z.describe("What Reeve does.")),
        reason,
        turn: z.optional(count("Of a turn: which one.")),
        approval_id: z.optional(text("Of an approval: which one.")),
      },
    ],
    "interrupt-requested": ["Somebody asked for the turn under way to be interrupted.", { turn, reason }],
    "interrupt-failed": ["A turn was to be interrupted, and it goes on.", { turn, reason }],
    "session-held": [
      "Somebody holds it: it must stay.",
      { why: text("Why it must stay."), until_at: instant("When the hold ends by itself.") },
    ],
    "hold-ending": [
      "It is not held much longer, and would then be ended by its idle time or its age.",
      { why: text("Why it had to stay."), until_at: instant("When the hold ends.") },
    ],
    "hold-released": ["Somebody released it: it is not held any more.", { why: text("Why it had to stay.") }],
    "hold-lapsed": [
      "Its hold is over.",
      { why: text("Why it had to stay."), after_seconds: z.number().check(z.describe("How long it was held.")) },
    ],
    "health-changed": [
      "Looks at its processes show something else than before: it hangs, is slow, or neither any more.",
      { from: healthVerdict.check(z.describe(from)), health: healthSchema.check(z.describe("How it fares now.")) },
    ],
    "approval-requested": [
      "The agent asks for an approval.",
      {
        approval,
        concerns: z
          .optional(
            z.object({
              tool: textOrNull("The agent's own name of the tool; null where it has none."),
              paths: z.array(z.string()).check(z.describe("The files that would be changed.")),
            }),
          )
          .check(z.describe("What approval rules look at besides; missing where the agent does not tell.")),
        evidence,
        replaces: z
          .optional(z.string())
          .check(z.describe("The id under which the same question was asked before; nobody is woken again.")),
        rule: z
          .optional(z.string())
          .check(
            z.describe("The approval rule that answers it at once, so that nobody is woken; missing where none does."),
          ),
      },
    ],
    "approval-answer-requested": [
      "Somebody answered a question; Reeve gives the answer to the agent.",
      { approval_id: approvalId, decision: decision.check(z.describe("The answer.")), turn: optionalTurn, rule },
    ],
    "approval-settled": [
      "A question is no longer asked.",
      {
        approval_id: approvalId,
        title: text("What was asked."),
        decision: z.nullable(decision).check(z.describe("How it was answered; null where nobody could see that.")),
        by: text("Who answered: `operator`, `session:<id>` or `system` through Reeve, `pane`, or `agent`."),
        via: surface("How they answered through Reeve"),
        rule,
        evidence,
      },
    ],
    "approval-answer-failed": [
      "An answer could not be given; the agent still asks.",
      { approval_id: approvalId, reason, rule },
    ],
    "message-admitted": [
      "A message was recorded, and will be typed as soon as the session can take it.",
      {
        message_id: messageId,
        bytes: count("How long it is."),
        is_wake: z
          .optional(z.boolean())
          .check(z.describe("True: Reeve wakes the session; nobody asked anything of it.")),
        is_resume: z
          .optional(z.boolean())
          .check(z.describe("True: Reeve asks the session to continue a turn that a usage limit stopped.")),
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
        is_recovery: z.optional(z.boolean()).check(z.describe("True: also that it was restarted in a turn.")),
      },
    ],
  } as const satisfies Record<SessionEvent["type"], readonly [string, z.core.$ZodShape]>;
}
