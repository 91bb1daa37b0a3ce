/** Sends a message: records it durably, then types it once, as soon as the session can take it. */
import * as z from "zod/mini";
import type { Agent } from "../agent/contract.ts";
import { newMessageId } from "../platform/ids.ts";
import { requireRoom } from "../platform/disk-room.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { BRANCH_MISMATCH, isHeldByBranch, mismatchSentence } from "../session/checkout.ts";
import type { EventBody } from "../session/event.ts";
import type { Message, MessageRoute, MessageState } from "../session/message.ts";
import { pausedSentence } from "../session/pause-sentence.ts";
import { requireTypeable } from "../session/message-text.ts";
import { isEndWaiting, mayTakeMessagesLater } from "../session/pending-effect.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { defineOperation } from "./contract.ts";
import { cursor, instant, seconds, text, textOrNull } from "./field.ts";
import { idempotent } from "./idempotency.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";
import { resolveWork, workReference } from "./work-reference.ts";
import { until } from "../supervisor/ledger/until.ts";

export const sendMessage = defineOperation({
  name: "send_message",
  summary:
    "Send text to a session. It is recorded first and typed once; the answer says whether it was delivered, refused, or waits.",
  method: "POST",
  path: "/v1/sessions/{session}/messages",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", text: "Now write a test for it" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      text: z.string().check(z.minLength(1, "some text"), z.describe("What to type into the session.")),
      submit: z._default(z.boolean(), true).check(z.describe("Press Enter after it.")),
      how: z
        ._default(z.enum(["queue", "steer", "interrupt"]), "queue")
        .check(
          z.describe(
            "What to do while a turn is under way. queue: wait for its end. steer: put it into that turn. interrupt: stop that turn first, ahead of what waits.",
          ),
        ),
      work: z
        .optional(workReference)
        .check(
          z.describe("The item of work that the session is given with it. It must be idle and have no other item."),
        ),
      timeout_seconds: z
        ._default(seconds(60), 5)
        .check(z.describe("How long to wait for the outcome before answering with the state it has by then.")),
    }),
  output: () =>
    z.object({
      message_id: text("The message."),
      session_id: text("The session that it was sent to."),
      state: z
        .enum(["admitted", "leased", "delivered", "refused", "unknown"])
        .check(
          z.describe(
            "admitted: it waits. leased: it is being typed. delivered: the agent took it. refused: it will not be typed. unknown: it was typed, and nobody could see whether it was taken.",
          ),
        ),
      detail: textOrNull("How the outcome is known; of a message that waits, what it waits for."),
      admitted_at: instant("When it was recorded."),
      warning: textOrNull(
        "What is wrong with where it works, such as another branch than it declared; null otherwise.",
      ),
      cursor: cursor("Pass it to `wait_for_session` as `since` to wait for the outcome of this message."),
    }),

  async run(input, context) {
    const { store, supervisor, caller } = context;
    const session = resolveSession(store.registry, input.session);
    const messageId = await idempotent(context, "send_message", async (record) => {
      requireTypeable(input.text);
      // A short word to the agent that fills the disk must get through.
      if (input.text.length > SHORT_TEXT) requireRoom(context.outputsDir);
      if (session.wish.desired === "stopped" || !mayTakeMessagesLater(session)) throw takesNone(session);
      requireBranch(session);
      supervisor.requireUnimpeded(session);
      requireRoute(supervisor.agent(session.identity.agent), input.how);
      const workId = input.work === undefined ? undefined : (await resolveWork(supervisor, input.work)).id;
      const id = newMessageId();
      const message = { id, text: input.text, submit: input.submit, how: input.how };
      await supervisor.send(session, message, { caller, idempotency: record(id), workId });
      return id;
    });
    const now = (): Session => store.registry.get(session.id) ?? session;
    const state = (): MessageState => store.mailbox.get(messageId)?.state ?? "unknown";
    const isSettled = (): boolean => !["admitted", "leased"].includes(state());
    // Nothing comes of waiting for what somebody has to do first.
    const isHeldBack = (): boolean => state() === "admitted" && pausedSentence(now()) !== null;
    await until(context, () => isSettled() || isHeldBack(), input.timeout_seconds * 1_000);
    const cursor = await admissionOf(store, session.id, messageId);
    const message = store.mailbox.get(messageId);
    if (message === undefined)
      throw new ReeveError({
        code: "internal",
        kind: "internal",
        message: `Message ${messageId} was recorded but is not there.`,
      });
    return {
      message_id: messageId,
      session_id: session.id,
      state: message.state,
      detail: message.detail ?? waitingFor(now(), supervisor.testimony(session).obstacle, message),
      admitted_at: iso(message.admittedAt),
      warning: mismatchSentence(now()),
      cursor,
    };
  },
});

/** By its policy it gets no messages while another branch is checked out. */
function requireBranch(session: Session): void {
  if (!isHeldByBranch(session)) return;
  throw new ReeveError({
    code: BRANCH_MISMATCH,
    kind: "conflict",
    message: `Session ${session.identity.name} takes no messages now: ${mismatchSentence(session)} Check out ${session.identity.branch} there first.`,
    details: { session_id: session.id },
  });
}

function takesNone(session: Session): ReeveError {
  const { name } = session.identity;
  const isLeft = session.wish.desired !== "stopped" || isEnded(session) || session.process.exit !== null;
  return new ReeveError({
    code: "session-ended",
    kind: "conflict",
    message: isLeft
      ? `Session ${name} has ended and takes no messages; restart it first.`
      : `Session ${name} is being ended and takes no messages${isEndWaiting(session) ? `; cancel that with: reeve end ${name} --cancel` : ""}.`,
  });
}

/** Of a message that was not typed yet: what is in its way. */
export function waitingFor(
  session: Session,
  obstacle: { readonly messageId: string; readonly why: string } | null,
  { id, state }: Pick<Message, "id" | "state">,
): string | null {
  const paused = state === "admitted" ? pausedSentence(session) : null;
  return paused ?? (obstacle?.messageId === id ? `Waiting: ${obstacle.why}.` : null);
}

/** Where in the log it was admitted, also if this call only repeats that. */
async function admissionOf({ log }: Store, sessionId: string, messageId: string): Promise<number> {
  const fits = (body: EventBody): boolean => body.type === "message-admitted" && body.messageId === messageId;
  const admission = await log.latest({ sessionId, types: ["message-admitted"], fits });
  return admission?.seq ?? log.head();
}

const SHORT_TEXT = 4_096;

function requireRoute(agent: Agent, how: MessageRoute): void {
  const isPossible = how === "queue" || (how === "steer" ? agent.capabilities.steer : agent.interrupt !== null);
  if (isPossible) return;
  const cannot = how === "steer" ? "cannot take a message during a turn" : "cannot be interrupted";
  throw new ReeveError({
    code: `${how}-unsupported`,
    kind: "usage",
    message: `The agent ${agent.name} ${cannot}; leave --${how} out and the message waits for the end of the turn.`,
  });
}
