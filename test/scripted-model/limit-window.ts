// Remembers the limits that a prompt began: `[[limit 20s]]` refuses that request until the reset, `[[limit 20s once]]`
// every request of the account. Milliseconds since the epoch.

export interface LimitWindows {
  /** When the limit of this key resets; begins it with the first call. Undefined once that is over. */
  begin(key: string, ms: number): number | undefined;
  /** When the limit of this key resets, if one is in force. */
  current(key: string): number | undefined;
  /** The next `begin` begins a new one. */
  forget(key: string): void;
}

export function createLimitWindows(): LimitWindows {
  const resets = new Map<string, number>();
  const current = (key: string): number | undefined => {
    const resetsAt = resets.get(key);
    return resetsAt !== undefined && Date.now() < resetsAt ? resetsAt : undefined;
  };
  return {
    current,
    begin: (key, ms) => {
      // Vendors tell whole seconds: refused until the second that was told.
      if (!resets.has(key)) resets.set(key, Math.ceil((Date.now() + ms) / 1000) * 1000);
      return current(key);
    },
    forget: (key) => void resets.delete(key),
  };
}
