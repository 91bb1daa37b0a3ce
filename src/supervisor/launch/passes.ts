/**
 * The passes of processes that are about to be started. In memory only: the
 * record holds their hashes, and the process itself the pass. A daemon that
 * takes over in the middle of a start issues another; both are good, because
 * nobody can tell which of them the process got.
 */
import { newPass } from "../../platform/pass.ts";
import type { Session } from "../../session/session.ts";

export interface Passes {
  /** The same for every try to start this process. */
  forStart(sessionId: string, incarnation: number): string;
  /** Forgets what this session has no more use for. */
  attend(session: Session): void;
}

export function createPasses(): Passes {
  const issued = new Map<string, { readonly incarnation: number; readonly pass: string }>();
  return {
    forStart(sessionId, incarnation) {
      const known = issued.get(sessionId);
      if (known?.incarnation === incarnation) return known.pass;
      const pass = newPass();
      issued.set(sessionId, { incarnation, pass });
      return pass;
    },
    attend({ id, state, process }) {
      const known = issued.get(id);
      if (known !== undefined && (state !== "starting" || process.incarnation > known.incarnation)) issued.delete(id);
    },
  };
}
