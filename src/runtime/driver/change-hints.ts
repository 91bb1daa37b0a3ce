/** Tells listeners that something may have changed; hints about everything are joined into one per turn. */
import type { Target } from "../contract.ts";

type Listener = (target: Target | null) => void;

export interface ChangeHints {
  tell(target: Target | null): void;
  listen(listener: Listener): () => void;
}

export function createChangeHints(log: (message: string, fields?: object) => void): ChangeHints {
  const listeners = new Set<Listener>();
  let isPending = false;

  const tellAll = (target: Target | null): void => {
    for (const listener of listeners) {
      try {
        listener(target);
      } catch (error) {
        log("a listener to changes failed", { why: error });
      }
    }
  };

  return {
    tell(target) {
      if (target !== null) return tellAll(target);
      if (isPending) return;
      isPending = true;
      setImmediate(() => {
        isPending = false;
        tellAll(null);
      });
    },
    listen(listener) {
      const own: Listener = (target) => listener(target);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
