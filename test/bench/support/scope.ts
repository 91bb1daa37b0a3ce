/** What was started is ended, in reverse order, whatever happens in between. */
export interface Scope {
  /** Run once when the scope ends; at once if it has. */
  defer(end: () => void | Promise<void>): void;
  end(): Promise<void>;
}

export function createScope(): Scope {
  const ends: (() => void | Promise<void>)[] = [];
  let isEnded = false;

  async function endAll(): Promise<void> {
    isEnded = true;
    const problems: unknown[] = [];
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      try {
        await end();
      } catch (error) {
        problems.push(error);
      }
    }
    if (problems.length > 0) throw new Error(`cleaning up failed: ${problems.map(String).join("; ")}`);
  }

  return {
    defer(end) {
      ends.push(end);
      if (isEnded) endAll().catch((error: unknown) => console.error(String(error)));
    },
    end: endAll,
  };
}
