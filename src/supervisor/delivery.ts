/**
 * Gives admitted messages to sessions: in order, each at most once. The lease
 * is committed before the first key is pressed (or the first byte sent), so a
 * crash in between leaves an outcome that is honestly unknown, never a second
 * attempt. Delivered means that the agent said it took it, wherever it can.
 */
import type { Agent, Channel } from "../agent/contract.ts";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Message } from "../session/message.ts";
import { isPromptAhead, mayTakeMessagesLater, takesMessages } from "../session/pending-effect.ts";
import type { Reading } from "../session/reading.ts";
import type { Evidence, Reason, Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import type { Task } from "./effect-runner.ts";
import { targetOf } from "./target.ts";
import { knownOf } from "./known.ts";
import type { Ledger } from "./ledger.ts";
import { until } from "./until.ts";

/** After a message that nothing confirms an agent needs a moment; a second one typed at once would race it. */
const SETTLING_MS = 2_000;
/** An agent that took a prompt says so within a second; a busy machine may need more. */
const CONFIRM_MS = 2_500;
/** A long paste takes its time: gemini 0.61.0 needed 80 s for 150 KB. */
const CONFIRM_MS_PER_BYTE = 0.25;
/** Enter is pressed again so often before the outcome counts as unknown. */
const ENTERS = 3;
/** An interrupt that had no effect for so long is tried again. */
const INTERRUPT_AGAIN_MS = 5_000;
/** A channel that is not open opens within a moment, as a rule. */
const CHANNEL_LOOK_MS = 250;

/** Nothing was typed and it may work later. */
const RETRIED = new Set(["runtime-unreachable", "message-not-written"]);

export interface DeliveryParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly runtime: (kind: string) => Runtime;
  readonly agent: (name: string) => Agent;
  readonly channel: (sessionId: string) => Channel | null;
  /** What its screen says right now. */
  readonly look: (session: Session) => Promise<Reading | null>;
  /** What happened to it while nobody watched has been read. */
  readonly isCaughtUp: (session: Session) => boolean;
  readonly typingPauseMs: number;
  /** Look at the session again, later. */
  readonly pokeLater: (sessionId: string, ms: number) => void;
}

export interface Delivery {
  nextTask(session: Session): Task | null;
}

type Step = "wait" | "interrupt" | "type" | "channel";

export function createDelivery(parts: DeliveryParts): Delivery {
  /** When and in which activity (by its instant) the last unconfirmed message was typed, per session. */
  const lastTyped = new Map<string, { readonly at: number; readonly activityAt: number }>();
  /** Which turn a message is to interrupt, and when that was last tried; of the oldest waiting message per session. */
  const interrupts = new Map<string, { readonly messageId: string; readonly turn: number; triedAt: number | null }>();

  /** Messages that waited already when the session began to ask: none of them is an answer, and an answer overtakes them. */
  const waitedBefore = new Map<string, { readonly question: string; readonly ids: ReadonlySet<string> }>();

  function answerAmong(session: Session, waiting: readonly Message[]): Message | undefined {
    const question = `${session.incarnation} ${session.turns} ${session.activity.evidence.at}`;
    const known = waitedBefore.get(session.id);
    const ids = known?.question === question ? known.ids : new Set(waiting.map((message) => message.id));
    waitedBefore.set(session.id, { question, ids });
    return waiting.find((message) => !ids.has(message.id));
  }

  function nextStep(session: Session, message: Message): Step {
    const agent = parts.agent(session.agent);
    const { status } = session.activity;
    const asks = isAsking(session);
    if (isPromptAhead(session, parts.clock.now())) return later(session, CHANNEL_LOOK_MS);
    const isBusy = session.turnOpen && !asks;
    if (isBusy && message.how === "interrupt") return mayInterrupt(session, message) ? "interrupt" : "wait";
    const isSteered = isBusy && message.how === "steer" && agent.capabilities.steer;
    if (!isSteered && (isBusy || !agent.accepts(status) || isSettling(session))) return "wait";
    const speaksChannel = session.watch.socket !== null && message.submit && !asks && !isOwnCommand(message);
    if (speaksChannel) return parts.channel(session.id) === null ? later(session, CHANNEL_LOOK_MS) : "channel";
    return "type";
  }

  function later(session: Session, ms: number): "wait" {
    parts.pokeLater(session.id, ms);
    return "wait";
  }

  /**
   * The turn under way when the message was first seen, else the one that was
   * about to begin; at a start that is the turn the record knew, before what
   * happened since is read. Any other turn is not its business.
   */
  function intended(session: Session, message: Message): { readonly turn: number; triedAt: number | null } {
    const before = interrupts.get(session.id);
    if (before?.messageId === message.id) return before;
    const turn = session.turnOpen ? session.turns : session.turns + 1;
    const intent = { messageId: message.id, turn, triedAt: null };
    interrupts.set(session.id, intent);
    return intent;
  }

  function mayInterrupt(session: Session, message: Message): boolean {
    const { turn, triedAt } = intended(session, message);
    if (turn !== session.turns) return false;
    const left = triedAt === null ? 0 : triedAt + INTERRUPT_AGAIN_MS - parts.clock.monotonic();
    if (left > 0) parts.pokeLater(session.id, left);
    return left <= 0;
  }

  function isSettling(session: Session): boolean {
    const last = lastTyped.get(session.id);
    if (last === undefined || last.activityAt !== session.activity.evidence.at) return false;
    const left = last.at + SETTLING_MS - parts.clock.monotonic();
    if (left > 0) parts.pokeLater(session.id, left);
    return left > 0;
  }

  async function interrupt(session: Session, message: Message): Promise<void> {
    intended(session, message).triedAt = parts.clock.monotonic();
    const channel = parts.channel(session.id);
    const keys = parts.agent(session.agent).interrupt;
    if (channel !== null) await channel.interrupt();
    else if (keys !== null) await parts.runtime(session.runtime).send(targetOf(session), keys);
    await until({ store: parts.store }, () => !hasTurnOpen(session), CONFIRM_MS);
  }

  function hasTurnOpen({ id, turns }: Session): boolean {
    const session = parts.store.registry.get(id);
    return session !== undefined && session.turnOpen && session.turns === turns && session.exit === null;
  }

  async function overChannel(session: Session, message: Message): Promise<void> {
    const channel = parts.channel(session.id);
    if (channel === null) return;
    await lease(message);
    let detail: string;
    try {
      detail = await channel.send(message.text, session.turnOpen ? "steer" : "turn");
    } catch (error) {
      return giveUp(message, error);
    }
    failpoint("send.after-effect");
    if (!session.turnOpen) await until({ store: parts.store }, () => hasBegun(session), CONFIRM_MS);
    await delivered(message, detail);
  }

  async function typed(session: Session, message: Message): Promise<void> {
    const agent = parts.agent(session.agent);
    const runtime = parts.runtime(session.runtime);
    if ((await isSomeoneTyping(session, runtime)) || (await asksUnseen(session))) return;
    await lease(message);
    const steps = agent.encode({ text: message.text, submit: message.submit }, knownOf(session));
    try {
      await runtime.send(targetOf(session), steps);
    } catch (error) {
      return giveUp(message, error);
    }
    failpoint("send.after-effect");
    const bytes = Buffer.byteLength(message.text);
    const written = bytes === 1 ? "1 byte was written to its terminal" : `${bytes} bytes were written to its terminal`;
    if (!isConfirmable(session, message, agent)) {
      if (agent.capabilities.turns)
        lastTyped.set(session.id, { at: parts.clock.monotonic(), activityAt: session.activity.evidence.at });
      return delivered(message, written);
    }
    const confirmation = await confirm(session, message, runtime);
    if (confirmation !== null) return delivered(message, `${written}; ${confirmation}`);
    await unknown(
      message,
      "unconfirmed",
      `${written}, but it did not say that it took the message; look at its screen.`,
    );
  }

  /** Only a prompt to an idle agent begins a turn; a command of the agent's own need not. */
  function isConfirmable(session: Session, message: Message, agent: Agent): boolean {
    return (
      agent.capabilities.confirms &&
      message.submit &&
      !session.turnOpen &&
      session.activity.status === "idle" &&
      !isOwnCommand(message)
    );
  }

  async function confirm(session: Session, message: Message, runtime: Runtime): Promise<string | null> {
    const patienceMs = CONFIRM_MS + Buffer.byteLength(message.text) * CONFIRM_MS_PER_BYTE;
    for (let enter = 0; ; enter++) {
      await until({ store: parts.store }, () => hasBegun(session) || !isWaiting(session), patienceMs);
      const now = parts.store.registry.get(session.id);
      if (now !== undefined && hasBegun(session)) return `it was taken (${now.activity.evidence.detail})`;
      // Whatever else happened, Enter would now answer another question than ours.
      if (now === undefined || !isWaiting(session) || enter === ENTERS) return null;
      await runtime.send(targetOf(session), [{ type: "key", key: "Enter" }]).catch(() => undefined);
    }
  }

  function hasBegun(before: Session): boolean {
    const now = parts.store.registry.get(before.id);
    return now !== undefined && now.incarnation === before.incarnation && now.turns > before.turns;
  }

  function isWaiting(before: Session): boolean {
    const now = parts.store.registry.get(before.id);
    return (
      now !== undefined &&
      now.incarnation === before.incarnation &&
      takesMessages(now) &&
      now.activity.status === before.activity.status
    );
  }

  async function isSomeoneTyping(session: Session, runtime: Runtime): Promise<boolean> {
    const at = await runtime.lastTypedAt(targetOf(session)).catch(() => null);
    return at !== null && parts.clock.now() - at < parts.typingPauseMs;
  }

  /** A question that no source has told of yet: what is typed now would answer it. */
  async function asksUnseen(session: Session): Promise<boolean> {
    if (isAsking(session)) return false;
    const reading = await parts.look(session).catch(() => null);
    return reading?.activity === "awaiting-input" || reading?.activity === "awaiting-approval";
  }

  async function lease(message: Message): Promise<void> {
    await parts.ledger.settle(message, "leased", null, null);
    failpoint("send.leased");
  }

  async function delivered(message: Message, detail: string): Promise<void> {
    await parts.ledger.settle(
      message,
      "delivered",
      { type: "message-delivered", messageId: message.id, evidence: evidence(detail) },
      detail,
    );
  }

  /** Refused or tried again only when the runtime or the channel said that nothing was sent. */
  async function giveUp(message: Message, error: unknown): Promise<void> {
    const wasNotSent = error instanceof ReeveError && error.kind !== "usage" && error.details["sent"] === false;
    if (wasNotSent || (error instanceof ReeveError && RETRIED.has(error.code))) {
      await parts.ledger.settle(message, "admitted", null, null);
      throw error;
    }
    const isRefused = error instanceof ReeveError && (error.kind === "usage" || error.kind === "conflict");
    const code = error instanceof ReeveError ? error.code : "delivery-failed";
    if (isRefused) return refuse(message, code, error.message);
    await unknown(message, code, `It may or may not have been typed: ${messageOf(error)}.`);
  }

  async function unknown(message: Message, code: string, text: string): Promise<void> {
    const reason = because(code, text);
    await parts.ledger.settle(message, "unknown", { type: "message-unknown", messageId: message.id, reason }, text);
  }

  async function refuse(message: Message, code: string, text: string): Promise<void> {
    await parts.ledger.settle(
      message,
      "refused",
      { type: "message-refused", messageId: message.id, reason: because(code, text) },
      text,
    );
  }

  function evidence(detail: string): Evidence {
    return { source: "runtime", detail, at: parts.clock.now() };
  }

  function because(code: string, text: string): Reason {
    return { code, text, evidence: evidence(text) };
  }

  return {
    nextTask(session) {
      const waiting = parts.store.mailbox.open(session.id).filter((candidate) => candidate.state === "admitted");
      const message = isAsking(session) ? answerAmong(session, waiting) : waiting[0];
      if (message === undefined) return null;
      const key = `send ${message.id}`;
      if (!mayTakeMessagesLater(session)) {
        return {
          key,
          kind: "refuse",
          perform: () =>
            refuse(message, "session-ended", `Session ${session.name} ended before the message could be delivered.`),
        };
      }
      if (message.how === "interrupt") intended(session, message);
      if (!takesMessages(session) || !parts.isCaughtUp(session)) return null;
      switch (nextStep(session, message)) {
        case "wait":
          return null;
        case "interrupt":
          return { key: `interrupt ${message.id}`, kind: "interrupt", perform: () => interrupt(session, message) };
        case "channel":
          return { key, kind: "send", perform: () => overChannel(session, message) };
        case "type":
          return { key, kind: "send", perform: () => typed(session, message) };
      }
    },
  };
}

/** `/quit`, `/clear`: for the program at the terminal, not for the model behind it. */
function isOwnCommand({ text }: Message): boolean {
  return text.startsWith("/");
}

function isAsking({ activity: { status } }: Session): boolean {
  return status === "awaiting-approval" || status === "awaiting-input";
}
