/**
 * The secrets of each session, in memory only: told before its start, or read
 * from the living process, which its own user may. The runtime may take long to
 * answer, so there is at most one question per session at a time, and an answer
 * counts only for the incarnation that was asked about.
 */
import type { Runtime } from "../../runtime/contract.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import { type Environment, secretsOfLaunch } from "../launch/environment.ts";
import type { Secret } from "../launch/secret-values.ts";
import { targetOf } from "../ledger/target.ts";

export interface SessionSecrets {
  /** What it is about to be started with. */
  tell(session: Session, environment: Environment): void;
  /** As far as they have been told or read; null when they are not known. */
  known(sessionId: string): readonly Secret[] | null;
  /** The same after asking its process, if that may still be asked. */
  learn(sessionId: string): Promise<readonly Secret[] | null>;
  /** They are known, or the process of this incarnation was asked and could not say. */
  isSettled(session: Session): boolean;
  forget(sessionId: string): void;
}

export function createSessionSecrets(parts: {
  readonly store: Store;
  readonly runtime: (kind: string) => Pick<Runtime, "environmentOf">;
}): SessionSecrets {
  /** Outlives the process: its last screen is written after its end. */
  const known = new Map<string, readonly Secret[]>();
  const asking = new Map<
    string,
    { readonly incarnation: number; readonly answer: Promise<readonly Secret[] | null> }
  >();
  /** Incarnations that could not say. */
  const silent = new Map<string, number>();

  function tell(session: Session, environment: Environment): readonly Secret[] {
    const secrets = secretsOfLaunch(session.identity.launch, environment);
    known.set(session.id, secrets);
    return secrets;
  }

  async function ask(session: Session): Promise<readonly Secret[] | null> {
    const environment = await parts
      .runtime(session.identity.runtime)
      .environmentOf(targetOf(session), session.process.place);
    const told = known.get(session.id);
    if (told !== undefined) return told;
    if (environment === null) return null;
    const now = parts.store.registry.get(session.id);
    const isCurrent = now?.process.incarnation === session.process.incarnation && now.state !== "stopped";
    return isCurrent ? tell(session, environment) : secretsOfLaunch(session.identity.launch, environment);
  }

  return {
    tell: (session, environment) => void tell(session, environment),
    known: (sessionId) => known.get(sessionId) ?? null,
    async learn(sessionId) {
      const told = known.get(sessionId);
      const session = parts.store.registry.get(sessionId);
      // One that died before this daemon could ask its process cannot say any more.
      if (told !== undefined || session === undefined || session.process.exit !== null) return told ?? null;
      const { incarnation } = session.process;
      const underWay = asking.get(sessionId);
      if (underWay?.incarnation === incarnation) return underWay.answer;
      const answer = ask(session).finally(() => {
        if (asking.get(sessionId)?.incarnation === incarnation) asking.delete(sessionId);
        silent.set(sessionId, incarnation);
      });
      asking.set(sessionId, { incarnation, answer });
      return answer;
    },
    isSettled: ({ id, process: { incarnation } }) => known.has(id) || silent.get(id) === incarnation,
    forget(sessionId) {
      known.delete(sessionId);
      silent.delete(sessionId);
    },
  };
}
