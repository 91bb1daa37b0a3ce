/**
 * The environments that callers brought for processes that are not there yet.
 * In memory only. Each is kept until the process was created or given up, so
 * that a repeated create uses the same environment.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Session } from "../../session/session.ts";
import type { Environment } from "./environment.ts";

export interface BroughtEnvironments {
  /** At hand before the commit, which sets things going; what was there before is put back when that is refused. */
  during<T>(sessionId: string, brought: Environment | undefined, commit: () => Promise<T>): Promise<T>;
  /** For a start that is being tried: what its caller brings again, or what was used in its place. */
  keep(session: Session, environment: Environment): void;
  get(sessionId: string): Environment | null;
  /** Waits for a caller who repeats what a daemon before this one was asked. */
  arrival(sessionId: string, withinMs: number): Promise<Environment | null>;
  /** Forgets what this session has no more use for. */
  attend(session: Session): void;
}

interface Brought {
  readonly environment: Environment;
  /** The session does not ask for it yet, and that is no reason to forget it. */
  isCommitted: boolean;
}

export function createBroughtEnvironments(clock: Clock): BroughtEnvironments {
  const brought = new Map<string, Brought>();
  const awaited = new Map<string, () => void>();

  return {
    async during(sessionId, environment, commit) {
      if (environment === undefined) return await commit();
      const before = brought.get(sessionId);
      const entry: Brought = { environment, isCommitted: false };
      brought.set(sessionId, entry);
      try {
        return await commit();
      } catch (error) {
        if (before === undefined) brought.delete(sessionId);
        else brought.set(sessionId, before);
        throw error;
      } finally {
        entry.isCommitted = true;
      }
    },
    keep(session, environment) {
      if (!isStartAhead(session) || brought.has(session.id)) return;
      brought.set(session.id, { environment, isCommitted: true });
      awaited.get(session.id)?.();
    },
    get: (sessionId) => brought.get(sessionId)?.environment ?? null,
    async arrival(sessionId, withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited.set(sessionId, resolve);
      if (!brought.has(sessionId)) await Promise.race([promise, clock.sleep(withinMs)]);
      awaited.delete(sessionId);
      return brought.get(sessionId)?.environment ?? null;
    },
    attend(session) {
      if (brought.get(session.id)?.isCommitted === true && !isStartAhead(session)) brought.delete(session.id);
    },
  };
}

function isStartAhead(session: Session): boolean {
  return session.state === "starting" || session.wish.stop?.next === "restart";
}
