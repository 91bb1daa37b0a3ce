/**
 * Looks at a session's screen and title when its terminal shows something new:
 * once output falls quiet, and about once a second while it goes on. The rules
 * turn it into a soft reading.
 */
import type { Agent } from "../../agent/contract.ts";
import { readScreen } from "../../agent/screen-rules.ts";
import { type Composer, readComposer, type Standing } from "../../agent/composer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { RuleBook } from "../launch/rule-book.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { targetOf } from "../ledger/target.ts";
import type { SoftWatch } from "./soft-watch.ts";
import { createTrials } from "./trials.ts";
import type { Watcher } from "./watcher.ts";

/** A screen is drawn in several writes; this long after the last one it is whole. */
const QUIET_MS = 150;
/** Spinners never fall quiet. */
const LONGEST_WAIT_MS = 1_000;
const SCREEN = "screen";

export interface ScreenWatch extends Watcher {
  /** Its terminal showed something. */
  notice(sessionId: string): void;
  /** What its screen says right now. */
  look(session: Session): Promise<Reading | null>;
  /** What stands in its composer right now. */
  standing(session: Session, composer: Composer): Promise<Standing>;
}

/** Rules find the text of a failure; the agent knows of which kind it is. */
function withKind(reading: Reading, { failureOf }: Agent): Reading {
  const { turn } = reading;
  if (turn?.phase !== "failed" || failureOf === undefined) return reading;
  return { ...reading, turn: { ...turn, failure: failureOf(turn.error) } };
}

export function createScreenWatch(parts: {
  readonly store: Store;
  readonly runtime: (kind: string) => Runtime;
  readonly agent: (name: string) => Agent;
  readonly rules: Pick<RuleBook, "has" | "of" | "composer">;
  readonly soft: SoftWatch;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): ScreenWatch {
  const { store } = parts;
  /** Since when (monotonic) something new has been shown that was not looked at. */
  const waiting = new Map<string, number>();
  const watched = new Set<string>();
  const trials = createTrials(parts.scheduler);

  async function look(session: Session): Promise<Reading | null> {
    const { identity } = session;
    if (!parts.rules.has(identity.agent)) return null;
    const rules = await parts.rules.of(identity.agent);
    if (rules.length === 0) return null;
    const screen = await parts.runtime(identity.runtime).capture(targetOf(session), { lines: 0 });
    const composer = await parts.rules.composer(identity.agent);
    const seen = { ...screen, at: parts.clock.now() };
    const reading = readScreen(rules, seen, session.watch.version, composer)?.reading ?? null;
    return reading === null ? null : withKind(reading, parts.agent(identity.agent));
  }

  /** The session as it is now, if there is a screen of it to look at. */
  function shown(sessionId: string): Session | null {
    const session = store.registry.get(sessionId);
    return session === undefined || session.process.exit !== null || session.process.place === null ? null : session;
  }

  async function lookAgain(of: Session): Promise<Reading | null> {
    const session = shown(of.id);
    return session?.process.incarnation === of.process.incarnation ? look(session) : null;
  }

  async function lookNow(sessionId: string): Promise<void> {
    waiting.delete(sessionId);
    try {
      const session = shown(sessionId);
      const reading = session === null ? null : await look(session);
      if (session !== null && reading !== null)
        await parts.soft.weigh(session, "screen", reading, () => lookAgain(session));
      trials.over(sessionId, SCREEN);
    } catch (error) {
      // What it shows may be the last that it draws for long.
      const again = (): void => void lookNow(sessionId);
      if (watched.has(sessionId) && trials.failed(sessionId, SCREEN, again))
        parts.log("a screen could not be read; tried again", { session: sessionId, why: messageOf(error) });
    }
  }

  function notice(sessionId: string): void {
    if (!watched.has(sessionId)) return;
    const now = parts.clock.monotonic();
    const since = waiting.get(sessionId) ?? now;
    const delay = Math.max(0, Math.min(QUIET_MS, since + LONGEST_WAIT_MS - now));
    waiting.set(sessionId, since);
    parts.scheduler.after(sessionId, SCREEN, delay, () => void lookNow(sessionId));
  }

  function stop(sessionId: string): void {
    watched.delete(sessionId);
    parts.scheduler.cancel(sessionId, SCREEN);
    trials.over(sessionId, SCREEN);
    waiting.delete(sessionId);
  }

  return {
    notice,
    look,
    standing: async (session, composer) =>
      readComposer(
        composer,
        (await parts.runtime(session.identity.runtime).capture(targetOf(session), { lines: 0 })).solid,
      ),
    attend(session) {
      if (watched.has(session.id) || !parts.rules.has(session.identity.agent)) return;
      watched.add(session.id);
      notice(session.id);
    },
    async leave(session) {
      stop(session.id);
    },
    async close() {
      for (const sessionId of watched) stop(sessionId);
    },
  };
}
