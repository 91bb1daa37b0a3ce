/** The person's side of the practice program: a terminal, or a plain stream of lines. */
export interface Dialogue {
  /** Prints text as whole lines. */
  say(text: string): void;
  /** The next prompt, or null when the person leaves. */
  nextPrompt(): Promise<string | null>;
  /** Until `endTurn`, an interrupt from the person calls `interrupt`. */
  beginTurn(interrupt: () => void): void;
  endTurn(): void;
  /** True for yes. Rejects when the signal aborts first. */
  ask(question: string, signal: AbortSignal): Promise<boolean>;
  /** As if Ctrl-C had been pressed. */
  interrupt(): void;
  /** Gives the terminal back as it was. */
  close(): void;
}

/** Yes, no, or null for anything else. */
export function answerIn(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  if (word === "y" || word === "yes") return true;
  if (word === "n" || word === "no") return false;
  return null;
}
