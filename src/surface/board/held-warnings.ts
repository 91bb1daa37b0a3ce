/**
 * Warnings of the runtime while the board has the terminal: Node prints them past everything, over whatever is drawn.
 * They are kept, and printed as they would have been when the terminal is given back.
 */
type Listener = (warning: Error) => void;

/** Returns what lets them go. */
export function holdWarnings(): () => void {
  const printers = process.listeners("warning") as Listener[];
  const held: Error[] = [];
  const hold = (warning: Error): void => void held.push(warning);
  process.removeAllListeners("warning").on("warning", hold);
  return () => {
    process.off("warning", hold);
    for (const print of printers) {
      process.on("warning", print);
      for (const warning of held) print(warning);
    }
  };
}
