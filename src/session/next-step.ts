/**
 * Decides what to do next with the messages of a session, from the record, the
 * open messages and the time. It keeps no state, so another daemon decides the
 * same. `supervisor/effect/delivery.ts` does it.
 */
import type { Moment } from "../platform/clock.ts";
import { isBackgroundOnly } from "./background.ts";
import type { CallerName } from "./caller.ts";
import { isOwnCommand, type Message } from "./message.ts";
import { mayTakeMessagesLater, takesMessages } from "./pending-effect.ts";
import { isPromptAhead } from "./prompt-ahead.ts";
import type { ActivityStatus, Session } from "./session.ts";

export type NextStep =
  | { readonly do: "type" | "channel" | "interrupt" | "refuse" | "recover"; readonly message: Message }
  /** Until something is told of the session. */
  | { readonly do: "wait" }
  /** `at` is monotonic. `obstacle`: what keeps the message from being given, for whoever asks. */
  | { readonly do: "look-again"; readonly at: number; readonly obstacle: Obstacle | null };

export interface Obstacle {
  readonly messageId: string;
  readonly why: string;
}

/** What is not in the record. Attempts are of this daemon: the next one may try again at once. */
export interface Circumstances {
  /** Wall time, against which the record's instants are held. */
  readonly now: Moment;
  readonly monotonic: number;
  /** Whether the agent takes text while it does this. */
  readonly accepts: (status: ActivityStatus) => boolean;
  readonly canSteer: boolean;
  /** What happened to the session while nobody watched has been read. */
  readonly isCaughtUp: boolean;
  /** Of the agent's own protocol: open, or why not. */
  readonly channel: { readonly isOpen: boolean; readonly text: string };
  /** The text repeats a secret that cannot be put in now. */
  readonly isConcealed: (text: string) => boolean;
  /** When (monotonic) and in which activity (by its instant) the last unconfirmed message was typed. */
  readonly lastTyped: { readonly at: number; readonly activityAt: number } | null;
  /** When (monotonic) an interrupt was last tried for a message. */
  readonly interrupted: { readonly messageId: string; readonly at: number } | null;
  /** Why nothing may be begun in it before a limit of its vendor resets; null where it may. */
  readonly parked: string | null;
  /** Until when (monotonic) what stood in the way of typing a message is not looked at again. */
  readonly held: { readonly messageId: string; readonly until: number } | null;
}

/** After a message that nothing confirms an agent needs a moment; a second one typed at once would race it. */
export const SETTLING_MS = 2_000;
/** An interrupt that had no effect for so long is tried again. */
export const INTERRUPT_AGAIN_MS = 5_000;
/** A channel that is not open opens within a moment, as a rule. */
export const CHANNEL_LOOK_MS = 250;
/** Whether what was in the way is gone is looked at again so often. */
export const HELD_MS = 1_000;
/** When a limit resets, whoever waits for it is told; this is only for the case that nobody does. */
export const PARKED_LOOK_MS = 60_000;

const WAIT: NextStep = { do: "wait" };

/** `open`: the messages that are admitted or leased, in order. */
export function nextStep(session: Session, open: readonly Message[], around: Circumstances): NextStep {
  const isOver = !mayTakeMessagesLater(session);
  const isReady = takesMessages(session) && around.isCaughtUp;
  // While it is being typed nobody asks; afterwards only a crash, of Reeve or of the attempt, leaves it leased.
  const left = open.find(({ state }) => state === "leased");
  if (left !== undefined) return isOver || isReady ? { do: "recover", message: left } : WAIT;
  const message = isAsking(session) ? open.find(({ answers }) => answers === questionOf(session)) : inOrder(open)[0];
  if (message === undefined) return WAIT;
  if (isOver || isOvertaken(session, message, open)) return { do: "refuse", message };
  return isReady ? stepFor(session, message, around) : WAIT;
}

/** In the order in which they are given. Whoever interrupts does not wait for what others want of it later. */
export function inOrder(open: readonly Message[]): readonly Message[] {
  const interrupts = open.filter(({ how }) => how === "interrupt");
  return interrupts.length === 0 ? open : [...interrupts, ...open.filter(({ how }) => how !== "interrupt")];
}

function stepFor(session: Session, message: Message, around: Circumstances): NextStep {
  const { conversation } = session;
  const { monotonic } = around;
  const asks = isAsking(session);
  const lookAgain = (at: number, why: string | null = null): NextStep => {
    const obstacle = why === null ? null : { messageId: message.id, why };
    return { do: "look-again", at, obstacle };
  };
  if (isPromptAhead(session, around.now)) return lookAgain(monotonic + CHANNEL_LOOK_MS);
  if (around.isConcealed(message.text))
    return lookAgain(monotonic + HELD_MS, "it repeats a secret of the session, whose environment cannot be read now");
  // What works in the background leaves the composer free.
  const isFree = isBackgroundOnly(session);
  const isBusy = conversation.turnOpen && !asks && !isFree;
  if (isBusy && message.how === "interrupt") {
    if (message.intendedTurn !== conversation.turns) return WAIT;
    const dueAt = around.interrupted?.messageId === message.id ? around.interrupted.at + INTERRUPT_AGAIN_MS : monotonic;
    return dueAt > monotonic ? lookAgain(dueAt) : { do: "interrupt", message };
  }
  const isSteered = isBusy && message.how === "steer" && around.canSteer;
  if (!isSteered) {
    if (isBusy || !around.accepts(isFree ? "idle" : conversation.activity.status)) return WAIT;
    if (around.parked !== null && !asks) return lookAgain(monotonic + PARKED_LOOK_MS, around.parked);
    const settledAt = settlesAt(session, around);
    if (settledAt > monotonic) return lookAgain(settledAt);
  }
  if (session.watch.socket !== null && message.submit && !asks && !isOwnCommand(message))
    return around.channel.isOpen
      ? { do: "channel", message }
      : lookAgain(monotonic + CHANNEL_LOOK_MS, `its own protocol is ${around.channel.text}`);
  const isHeld = around.held?.messageId === message.id && around.held.until > monotonic;
  return isHeld ? lookAgain(around.held.until) : { do: "type", message };
}

/** It was to go on with a turn that failed; by now the session does something else, or somebody wants something else of it. */
export function isOvertaken(session: Session, message: Message, open: readonly Message[]): boolean {
  const { resume } = session.quota;
  if (resume?.messageId !== message.id || message.state !== "admitted") return false;
  return session.conversation.turns > resume.turn || open.length > 1 || session.wish.desired !== "running";
}

function settlesAt(session: Session, { lastTyped }: Circumstances): number {
  const isSame = lastTyped !== null && lastTyped.activityAt === session.conversation.activity.evidence.at;
  return isSame ? lastTyped.at + SETTLING_MS : Number.NEGATIVE_INFINITY;
}

/**
 * What a message is meant for, decided when it is admitted: if it interrupts,
 * only the turn under way by then, or the one about to begin, but none that
 * somebody may begin later; and if the session
 * asks, it is an answer to this question. Messages that wait already are no
 * answers, and an answer overtakes them, as does what interrupts. What a session
 * sends to itself is never an answer: it must not approve its own wish.
 */
export function intentOf(
  session: Session,
  sender: CallerName | null,
  isTurnComing: boolean,
): Pick<Message, "intendedTurn" | "answers"> {
  const { turns, turnOpen } = session.conversation;
  return {
    intendedTurn: turnOpen ? turns : isTurnComing ? turns + 1 : null,
    answers: isAsking(session) && sender !== `session:${session.id}` ? questionOf(session) : null,
  };
}

/** A message is being typed, or the prompt of the start is on its way, and its turn has not begun. */
export function isTurnComing(session: Session, open: readonly Message[], now: Moment): boolean {
  return open.some(({ state }) => state === "leased") || isPromptAhead(session, now);
}

export function isAsking({ conversation }: Session): boolean {
  const { status } = conversation.activity;
  return status === "awaiting-approval" || status === "awaiting-input";
}

/** One question of a session, as the record knows it. */
function questionOf({ process: { incarnation }, conversation: { turns, activity } }: Session): string {
  return `${incarnation} ${turns} ${activity.evidence.at}`;
}
