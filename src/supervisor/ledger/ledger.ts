/**
 * The only writer of session state. Every input goes through the session's own
 * serial queue: transition, commit, and then the listeners are told.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Log } from "../../platform/log.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { isBackgroundOnly } from "../../session/background.ts";
import { askedFor, type Caller, signature, SYSTEM } from "../../session/caller.ts";
import type { SessionEvent } from "../../session/event.ts";
import type { HomeEvent } from "../../session/home-event.ts";
import type { Context, Input } from "../../session/input.ts";
import type { Message, MessageState } from "../../session/message.ts";
import { intentOf, isTurnComing } from "../../session/next-step.ts";
import type { Reason, Session } from "../../session/session.ts";
import { transition } from "../../session/transition.ts";
import { requireRoomToWait } from "../../session/waiting-messages.ts";
import { wakeSettled } from "../../session/wake-record.ts";
import {
  admitMessage,
  type Change,
  type NewMessage,
  putSession,
  type Settlement,
  settleMessage,
} from "../../store/change.ts";
import type { Commit, IdempotencyRecord, NewEvent, Store } from "../../store/contract.ts";
import { isolated } from "../../platform/isolated.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Receipts } from "./receipts.ts";

/** What it is meant for is decided when it is admitted. */
export type SentMessage = Omit<NewMessage, "intendedTurn" | "answers">;

/** Of other records, to be committed together with what it belongs to: all of it is kept, or nothing. */
export interface Alongside {
  readonly changes: readonly Change[];
  readonly events: readonly NewEvent[];
}

const NOTHING: Alongside = { changes: [], events: [] };

/** What a wish comes with: who has it, and the key by which it is known again. */
export interface Wish {
  readonly caller: Caller;
  readonly idempotency?: IdempotencyRecord | undefined;
}

export interface Ledger {
  /**
   * Commits what the input makes of the session; a refused command is an error. A command is somebody's wish.
   * `also`: what it is part of, told in the same commit. `onto`: called with the session that it is applied to.
   */
  apply(
    sessionId: string,
    input: Input,
    wish?: Partial<Wish> & {
      readonly also?: HomeEvent | undefined;
      readonly onto?: ((session: Session) => void) | undefined;
    },
  ): Promise<Session>;
  /** A new session, in one commit with its first message if it has one. */
  plan(
    session: Session,
    events: readonly SessionEvent[],
    wish: Wish & { readonly admit?: SentMessage | undefined; readonly alongside?: Alongside | undefined },
  ): Promise<void>;
  admit(message: SentMessage, wish?: Partial<Wish> & { readonly alongside?: Alongside | undefined }): Promise<void>;
  /** A message that was delivered stays so. */
  settle(message: Message, outcome: MessageState, event: SessionEvent | null, detail: string | null): Promise<void>;
  /** Refused on somebody's wish, as long as nobody has begun to type it. */
  withdraw(message: Message, wish: Wish): Promise<void>;
  /** For what is no transition: commits what is made of the session as it is by then; null: nothing. */
  commitFor(sessionId: string, make: (session: Session) => Commit | null): Promise<void>;
  /** While this is done, nothing else is done to the session. */
  alone<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
  /** With the session it came from and who asked, where that is known. */
  note(event: HomeEvent, caller?: Caller): Promise<void>;
  onCommit(listener: (sessionId: string) => void): void;
  idle(): Promise<void>;
}

export function createLedger(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly receipts: Receipts;
  readonly rulingOn?: Context["rulingOn"];
  /** What happened to the session while nobody watched has been read. */
  readonly isCaughtUp?: (session: Session) => boolean;
}): Ledger {
  const { store, clock, log, receipts, rulingOn, isCaughtUp = () => true } = parts;
  const queue = createKeyedQueue();
  /** Which turn will take a message, as the record stood when it was leased. A lease does not outlive the daemon. */
  const turnOfLease = new Map<string, number>();
  const listeners: ((sessionId: string) => void)[] = [];
  const tell = (sessionId: string): void => {
    for (const listener of listeners)
      isolated(log, "what follows a commit", { session: sessionId }, () => listener(sessionId));
  };

  function intent(session: Session, { caller }: SentMessage): ReturnType<typeof intentOf> {
    // What is not read yet may be the beginning of a turn.
    const isComing = !isCaughtUp(session) || isTurnComing(session, store.mailbox.open(session.id), clock.moment());
    return intentOf(session, caller, isComing);
  }

  /** Of a message that this input says was taken, while its outcome is still open. */
  function takenBy(session: Session, input: Input, turnNow: number): TakenMessage | null {
    const receipt = receipts.takenBy(session, input);
    if (receipt === null || store.mailbox.get(receipt.messageId)?.state !== "leased") return null;
    const { messageId, source, detail } = receipt;
    const at = clock.now();
    const turn = turnOfLease.get(messageId) ?? turnNow;
    turnOfLease.delete(messageId);
    return {
      settle: { messageId, state: "delivered", detail, moment: clock.moment() },
      event: { type: "message-delivered", messageId, turn, evidence: { source, detail, at } },
    };
  }

  return {
    apply: (sessionId, input, { caller, idempotency, also, onto } = {}) =>
      queue.run(sessionId, async () => {
        failpoint(`${input.type}.before-commit`);
        const session = store.registry.get(sessionId);
        if (session === undefined) throw unknownSession(sessionId);
        onto?.(session);
        const outcome = transition(session, input, {
          now: clock.now(),
          moment: clock.moment(),
          random: Math.random(),
          ...(caller === undefined ? {} : { caller }),
          ...(rulingOn === undefined ? {} : { rulingOn }),
        });
        if (outcome.refused !== null)
          throw new ReeveError({ ...outcome.refused, kind: "conflict", details: { session_id: sessionId } });
        const taken = takenBy(session, input, outcome.session.conversation.turns);
        const woken = taken === null ? null : wakeSettled(outcome.session, taken.settle.messageId, "delivered");
        const next = woken?.session ?? outcome.session;
        const told = outcome.events.map((event) => withInterrupter(event, store.mailbox.open(sessionId)));
        const events = taken === null ? told : [...told, taken.event, ...(woken?.events ?? [])];
        const isChanged = next !== session;
        if (!isChanged && events.length === 0 && idempotency === undefined && also === undefined) return session;
        await store.commit({
          changes: [
            ...(isChanged ? [putSession(once(session, next))] : []),
            ...(taken === null ? [] : [settleMessage(taken.settle)]),
          ],
          events: [
            ...(also === undefined ? [] : [{ sessionId: null, body: also }]),
            ...events.map((body) => ({ sessionId, body, ...askedBy(isRuled(body) ? SYSTEM : caller) })),
          ],
          ...(idempotency === undefined ? {} : { idempotency }),
        });
        failpoint(`${input.type}.after-commit`);
        tell(sessionId);
        return next;
      }),

    plan: (session, events, { caller, idempotency, admit, alongside = NOTHING }) =>
      queue.run(session.id, async () => {
        failpoint("start.before-commit");
        const bodies = admit === undefined ? events : [...events, admission(admit)];
        await store.commit({
          changes: [
            putSession(session),
            ...(admit === undefined ? [] : [admitMessage({ ...admit, ...intent(session, admit) })]),
            ...alongside.changes,
          ],
          events: [...bodies.map((body) => ({ sessionId: session.id, body, ...askedBy(caller) })), ...alongside.events],
          ...(idempotency === undefined ? {} : { idempotency }),
        });
        failpoint("start.after-commit");
        tell(session.id);
      }),

    admit: (message, { caller, idempotency, alongside = NOTHING } = {}) =>
      queue.run(message.sessionId, async () => {
        const session = store.registry.get(message.sessionId);
        if (session === undefined) throw unknownSession(message.sessionId);
        requireRoomToWait(session.identity.name, store.mailbox.open(session.id), message.text);
        const body = admission(message);
        failpoint("send.before-commit");
        await store.commit({
          changes: [admitMessage({ ...message, ...intent(session, message) }), ...alongside.changes],
          events: [
            { sessionId: message.sessionId, body, caller: message.caller, ...askedBy(caller) },
            ...alongside.events,
          ],
          ...(idempotency === undefined ? {} : { idempotency }),
        });
        failpoint("send.after-commit");
        tell(message.sessionId);
      }),

    settle: (message, state, event, detail) =>
      queue.run(message.sessionId, async () => {
        // A reading may have told of it in the meantime.
        if (store.mailbox.get(message.id)?.state === "delivered") return;
        const { id, sessionId } = message;
        const session = store.registry.get(sessionId);
        if (state === "leased" && session !== undefined)
          turnOfLease.set(
            id,
            session.conversation.turnOpen && !isBackgroundOnly(session)
              ? session.conversation.turns
              : session.conversation.turns + 1,
          );
        const turn = turnOfLease.get(id);
        const body =
          event?.type === "message-delivered" && event.messageId === id && turn !== undefined
            ? { ...event, turn }
            : event;
        const woken = session === undefined ? null : wakeSettled(session, id, state);
        await store.commit({
          changes: [
            settleMessage({ messageId: id, state, detail, moment: clock.moment() }),
            ...(woken === null ? [] : [putSession(woken.session)]),
          ],
          events: [...(body === null ? [] : [body]), ...(woken?.events ?? [])].map((one) => ({ sessionId, body: one })),
        });
        if (state !== "leased") turnOfLease.delete(id);
        tell(sessionId);
      }),

    withdraw: ({ id, sessionId }, { caller, idempotency }) =>
      queue.run(sessionId, async () => {
        const message = store.mailbox.get(id);
        if (message?.state !== "admitted") throw notWaiting(id, message?.state);
        const at = clock.now();
        const text = "It was cancelled before it was typed.";
        const reason: Reason = { code: "message-cancelled", text, evidence: askedFor(caller, at) };
        const session = store.registry.get(sessionId);
        const woken = session === undefined ? null : wakeSettled(session, id, "dropped");
        await store.commit({
          changes: [
            settleMessage({ messageId: id, state: "refused", detail: text, moment: clock.moment() }),
            ...(woken === null ? [] : [putSession(woken.session)]),
          ],
          events: [{ sessionId, body: { type: "message-refused", messageId: id, reason }, ...askedBy(caller) }],
          ...(idempotency === undefined ? {} : { idempotency }),
        });
        tell(sessionId);
      }),

    commitFor: (sessionId, make) =>
      queue.run(sessionId, async () => {
        const session = store.registry.get(sessionId);
        const commit = session === undefined ? null : make(session);
        if (commit === null) return;
        await store.commit(commit);
        tell(sessionId);
      }),

    alone: (sessionId, work) => queue.run(sessionId, work),

    note: async (event, caller) => {
      const sessionId = caller?.kind === "session" ? caller.id : null;
      await store.commit({ events: [{ sessionId, body: event, ...askedBy(caller) }] });
    },
    onCommit: (listener) => void listeners.push(listener),
    idle: () => queue.idle(),
  };
}

/** Whoever sent the message that was to stop this turn has stopped it. */
function withInterrupter(event: SessionEvent, open: readonly Message[]): SessionEvent {
  if (event.type !== "turn-interrupted") return event;
  const message = open.find(({ how, intendedTurn }) => how === "interrupt" && intendedTurn === event.turn);
  if (message === undefined || message.caller === null) return event;
  return { ...event, askedBy: message.caller, messageId: message.id };
}

/** Two changes of a record in one commit are one revision. */
function once(before: Session, next: Session): Session {
  return { ...next, revision: before.revision + 1 };
}

/** Nobody asked for it but Reeve's rules, whatever it came with. */
function isRuled(body: SessionEvent): boolean {
  return body.type === "approval-answer-requested" && body.rule !== undefined;
}

interface TakenMessage {
  readonly settle: Settlement;
  readonly event: SessionEvent;
}

function askedBy(caller: Caller | undefined): Partial<ReturnType<typeof signature>> {
  return caller === undefined ? {} : signature(caller);
}

function admission(message: SentMessage): SessionEvent {
  return { type: "message-admitted", messageId: message.id, bytes: Buffer.byteLength(message.text) };
}

function notWaiting(id: string, state: MessageState | undefined): ReeveError {
  const now = state === "leased" ? "is being typed" : `is ${state ?? "not known"}`;
  return new ReeveError({
    code: "message-not-waiting",
    kind: "conflict",
    message: `Message ${id} ${now}, so it cannot be cancelled; reeve messages shows those that can.`,
  });
}

function unknownSession(sessionId: string): ReeveError {
  return new ReeveError({
    code: "unknown-session",
    kind: "not-found",
    message: `There is no session ${sessionId}.`,
  });
}
