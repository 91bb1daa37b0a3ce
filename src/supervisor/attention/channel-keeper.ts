/**
 * Keeps a connection to the agent's own protocol open for every living session
 * whose plan has one. The agent's server runs in the session's place, so a new
 * daemon connects again and reads the present state. What it reads about the
 * end of an earlier turn is history: the transcript, or a message that is on
 * its way, may know better, and is waited for.
 */
import type { Agent, Channel } from "../../agent/contract.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Readings } from "./readings.ts";
import type { Watcher } from "./watcher.ts";

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** The line that tells of an end is written within milliseconds, by an agent that is not stopped. */
const HISTORY_MS = 5_000;

export interface ChannelKeeper extends Watcher {
  get(sessionId: string): Channel | null;
  /** Whether one is open, or why not. */
  describe(sessionId: string): string | null;
}

interface Kept {
  readonly incarnation: number;
  readonly stop: AbortController;
  channel: Channel | null;
  state: string;
  /** Readings in the order they came, one commit after another. */
  tail: Promise<void>;
}

export function createChannelKeeper(parts: {
  readonly store: Store;
  readonly agent: (name: string) => Agent;
  readonly readings: Readings;
  readonly clock: Clock;
  readonly log: Log;
}): ChannelKeeper {
  const kept = new Map<string, Kept>();

  async function keep(sessionId: string, entry: Kept): Promise<void> {
    for (let attempt = 0; !entry.stop.signal.aborted; attempt++) {
      const session = parts.store.registry.get(sessionId);
      const open = session === undefined ? undefined : parts.agent(session.identity.agent).openChannel;
      if (session === undefined || open === undefined || session.watch.socket === null) return;
      try {
        attempt = (await stay(session, session.watch.socket, open, entry)) ? 0 : attempt;
      } catch (error) {
        entry.state = `not open: ${messageOf(error)}`;
      }
      const delay = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 6));
      await parts.clock.sleep(delay, entry.stop.signal).catch(() => undefined);
    }
  }

  /** It would make an interruption of a turn whose end somebody else may still tell. */
  function isDoubtful(sessionId: string, { isHistory, turn }: Reading): boolean {
    if (isHistory !== true || turn === undefined) return false;
    const conversation = parts.store.registry.get(sessionId)?.conversation;
    const isOfOpenTurn =
      conversation?.turnOpen === true && turn.id !== undefined && turn.id === conversation.lastTurn?.id;
    return turn.phase === "interrupted" || !isOfOpenTurn;
  }

  /** Until then whoever saw it has told; what is applied after that is old news, and never about a turn that began meanwhile. */
  async function hold(session: Session, entry: Kept, reading: Reading): Promise<void> {
    const dated = reading.turn === undefined ? {} : { turn: { at: parts.clock.now(), ...reading.turn } };
    await parts.readings.note(session, reading, "not counted yet: a source that saw the turn end may still report it");
    await parts.clock.sleep(HISTORY_MS, entry.stop.signal).then(
      () => queue(session, entry, { ...reading, ...dated }),
      () => undefined,
    );
  }

  /** Resolves, with true, when a channel that was open closed. */
  async function stay(
    session: Session,
    socket: string,
    open: NonNullable<Agent["openChannel"]>,
    entry: Kept,
  ): Promise<boolean> {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<string>();
    const channel = await open({
      socket,
      nativeId: session.conversation.nativeId,
      onReading: (reading) => {
        if (isDoubtful(session.id, reading)) hold(session, entry, reading).catch(report(session));
        else queue(session, entry, reading);
      },
      onClose,
    });
    entry.channel = channel;
    entry.state = "open";
    const stopped = () => onClose("no longer needed");
    entry.stop.signal.addEventListener("abort", stopped, { once: true });
    if (entry.stop.signal.aborted) stopped();
    const why = await closed;
    entry.stop.signal.removeEventListener("abort", stopped);
    entry.channel = null;
    entry.state = `closed: ${why}`;
    channel.close();
    await entry.tail;
    return true;
  }

  function queue(session: Session, entry: Kept, reading: Reading): void {
    entry.tail = entry.tail.then(() => parts.readings.take(session, reading)).catch(report(session));
  }

  function report(session: Session): (error: unknown) => void {
    return (error) =>
      parts.log("a report of the agent was not committed", { session: session.id, why: messageOf(error) });
  }

  async function stop(sessionId: string): Promise<void> {
    const entry = kept.get(sessionId);
    if (entry === undefined) return;
    kept.delete(sessionId);
    entry.stop.abort(new Error("no longer needed"));
    entry.channel?.close();
    await entry.tail;
  }

  return {
    get: (sessionId) => kept.get(sessionId)?.channel ?? null,
    describe(sessionId) {
      const entry = kept.get(sessionId);
      const lack = entry?.channel?.lacks() ?? null;
      return entry === undefined ? null : lack === null ? entry.state : `${entry.state}, but only in part: ${lack}`;
    },
    attend(session) {
      if (session.watch.socket === null) return;
      const entry = kept.get(session.id);
      if (entry?.incarnation === session.process.incarnation) return;
      void stop(session.id);
      const fresh: Kept = {
        incarnation: session.process.incarnation,
        stop: new AbortController(),
        channel: null,
        state: "not open yet",
        tail: Promise.resolve(),
      };
      kept.set(session.id, fresh);
      keep(session.id, fresh).catch((error: unknown) =>
        parts.log("a connection to the agent's protocol was given up", { session: session.id, why: messageOf(error) }),
      );
    },
    leave: (session) => stop(session.id),
    async close() {
      await Promise.all([...kept.keys()].map(stop));
    },
  };
}
