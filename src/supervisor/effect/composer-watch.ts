/**
 * Looks at the composer of a session before something is typed: which text is
 * in it, who wrote that, and how to clear it. It presses no key before it has
 * seen the screen.
 */
import type { Agent } from "../../agent/contract.ts";
import { type Composer, isShownAs, type Standing } from "../../agent/composer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Message } from "../../session/message.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Attention } from "../attention/attention.ts";
import type { Adapters } from "../launch/adapters.ts";
import { targetOf } from "../ledger/target.ts";

/** An agent draws what it was given within a few hundredths of a second; a busy one takes longer. */
const LOOK_MS = 50;
/** After so long without a change a key had no effect. */
const CLEARING_MS = 2_000;
/** A tmux that hangs is back within seconds, or not at all. */
const UNANSWERED_MS = 15_000;
/** Each round clears what is visible; long pastes are shown as one word. */
const MOST_ROUNDS = 20;
/** Agents show a longer paste as one word. */
const MOST_UNSEEN_LINES = 50;
/** Texts of ours that may stand there: the newest ones. */
const REMEMBERED = 5;

export interface ComposerWatch {
  readonly composer: Composer;
  look(): Promise<Standing>;
  /** Looks until it holds, at most for so long; the last look either way. */
  until(holds: (standing: Standing) => boolean, patienceMs: number): Promise<Standing>;
  /** It holds exactly this text, as far as a screen can tell. */
  shows(text: string, standing: Standing): boolean;
  /** True when it is empty afterwards. */
  clear(): Promise<boolean>;
  /** Presses the keys that clear this text, though it is not seen to stand there. */
  clearUnseen(text: string): Promise<void>;
}

export interface ComposerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly adapters: Pick<Adapters, "agent" | "runtime">;
  readonly attention: Pick<Attention, "standing">;
  /** Null for an agent whose composer nothing describes. */
  readonly composer: (session: Session) => Promise<Composer | null>;
}

export async function watchComposer(parts: ComposerParts, session: Session): Promise<ComposerWatch | null> {
  const { clock } = parts;
  const composer = await parts.composer(session);
  if (composer === null) return null;
  const look = (): Promise<Standing> => parts.attention.standing(session, composer);

  async function until(holds: (standing: Standing) => boolean, patienceMs: number): Promise<Standing> {
    let endsAt = clock.monotonic() + patienceMs;
    const givesUpAt = endsAt + UNANSWERED_MS;
    for (;;) {
      const standing = await look().catch((error: unknown) => {
        if (clock.monotonic() >= givesUpAt) throw error;
        return null;
      });
      // While the terminal does not answer, nothing can be seen to hold.
      if (standing === null) endsAt = clock.monotonic() + patienceMs;
      else if (holds(standing) || clock.monotonic() >= endsAt) return standing;
      await clock.sleep(LOOK_MS);
    }
  }

  async function clearLines(text: string, most: number): Promise<void> {
    const lines = text.split("\n").slice(0, most);
    const keys = lines.flatMap(() => (composer?.clear ?? []).map((key) => ({ type: "key", key }) as const));
    if (keys.length > 0) await parts.adapters.runtime(session.identity.runtime).send(targetOf(session), keys);
  }

  async function clear(): Promise<boolean> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const before = await look();
      if (before.state !== "text") return before.state === "empty";
      await clearLines(before.text, Number.POSITIVE_INFINITY);
      const after = await until((now) => now.state !== "text" || now.text !== before.text, CLEARING_MS);
      if (after.state === "text" && after.text === before.text) return false;
    }
    return false;
  }

  return {
    composer,
    look,
    until,
    clear,
    clearUnseen: (text) => clearLines(text, MOST_UNSEEN_LINES),
    shows: (text, standing) => standing.state === "text" && isShownAs(composer, text, standing.text),
  };
}

/** What the agent's composer is given for a message. */
export function typedText(agent: Agent, { text, submit }: Pick<Message, "text" | "submit">): string {
  return agent
    .encode({ text, submit })
    .map((step) => (step.type === "paste" ? step.text : ""))
    .join("");
}

/** What was typed on request without Enter and still waits there for what follows. */
export function draftOf(parts: ComposerParts, session: Session): string {
  const agent = parts.adapters.agent(session.identity.agent);
  let draft = "";
  for (const message of parts.store.mailbox.typed(session.id, REMEMBERED)) {
    if (message.submit || message.state !== "delivered") break;
    draft = typedText(agent, message) + draft;
  }
  return draft;
}

/**
 * Texts that Reeve typed and that may stand there again without anybody
 * having written them: one whose outcome is not known, several behind one
 * another or one twice, and the prompt of a turn that was interrupted, which
 * some agents put back.
 */
export function ownTexts(parts: ComposerParts, session: Session): readonly string[] {
  const { identity } = session;
  const agent = parts.adapters.agent(identity.agent);
  const typed = parts.store.mailbox.typed(session.id, REMEMBERED);
  const isInterrupted = session.conversation.lastTurn?.verdict === "interrupted";
  const unsure = typed.filter(({ state }) => state === "leased" || state === "unknown");
  const last = isInterrupted ? typed.slice(0, 1) : [];
  const first = isInterrupted && identity.launch.prompt !== null ? [identity.launch.prompt] : [];
  const single = [...unsure, ...last].map((message) => typedText(agent, message));
  const known = typed.findIndex((message) => !unsure.includes(message));
  const newest = typed.slice(0, known === -1 ? undefined : known).map((message) => typedText(agent, message));
  return [...single, ...first, ...single.map((text) => text + text), ...runsOf(newest.toReversed())];
}

/** Two or more that follow one another, joined. */
function runsOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((_, from) =>
    texts.slice(from + 1).map((_end, more) => texts.slice(from, from + more + 2).join("")),
  );
}
