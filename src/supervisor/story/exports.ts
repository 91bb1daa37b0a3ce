/** Which sessions are being exported: they stay until that is done, whatever their age. */

export interface Exports {
  /** A removal that has begun ends first; then there is no such session any more. */
  run<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
  /** Why it must stay; null: it need not. */
  referenced(sessionId: string): string | null;
}

export function createExports(ledger: {
  /** While this is done, nothing else is done to the session. */
  alone(sessionId: string, work: () => Promise<void>): Promise<void>;
}): Exports {
  const underWay = new Map<string, number>();
  return {
    async run(sessionId, work) {
      await ledger.alone(sessionId, async () => void underWay.set(sessionId, (underWay.get(sessionId) ?? 0) + 1));
      try {
        return await work();
      } finally {
        const others = (underWay.get(sessionId) ?? 1) - 1;
        if (others > 0) underWay.set(sessionId, others);
        else underWay.delete(sessionId);
      }
    },
    referenced: (sessionId) => (underWay.has(sessionId) ? "It is being exported." : null),
  };
}
