// Counts how often a request was refused, for `[[status 429 times 2]]`. An agent repeats the same request, so its
// prompt and place in the conversation are the key; the count ends with the last refusal and then starts anew.

export interface Failures {
  /** True while there are refusals left to give. */
  take(key: string, times: number): boolean;
}

export function createFailures(): Failures {
  const given = new Map<string, number>();
  return {
    take: (key, times) => {
      const count = given.get(key) ?? 0;
      if (count >= times) {
        given.delete(key);
        return false;
      }
      if (times !== Infinity) given.set(key, count + 1);
      return true;
    },
  };
}
