/**
 * A view of a session's terminal for somebody who is not at its keyboard: what
 * is on the screen now, everything that is written to it from then on, and a
 * way to type and to resize. There may be several views at once, each at its
 * own pace. A view that falls behind gets the screen again instead of what it
 * missed, so that nothing piles up.
 *
 * Unlike a `Screen` this is raw: it holds whatever escape sequences the program
 * writes. It is for a terminal, never for a log.
 */
export interface Terminal {
  /** A snapshot first. Ends when the session's process has ended, its place is gone, or this view is closed. */
  readonly output: AsyncIterable<TerminalOutput>;
  /** As typed, byte for byte, one write after the other. Rejects where it may not have arrived. */
  write(bytes: Buffer): Promise<void>;
  /** For everybody who looks; the last one counts until the last view is closed. */
  resize(size: TerminalSize): Promise<void>;
  close(): void;
}

export type TerminalOutput = TerminalSnapshot | { readonly type: "bytes"; readonly bytes: Buffer };

/** Draws all of the screen, whatever was on it before. What had come until then is in it; what comes next is not. */
export interface TerminalSnapshot {
  readonly type: "snapshot";
  readonly bytes: Buffer;
  readonly size: TerminalSize;
}

/** What a recording is made of, in its order. The size is told once soon after it began, and whenever it has changed. */
export type TerminalEvent = TerminalOutput | { readonly type: "resized"; readonly size: TerminalSize };

export interface TerminalFollowing {
  /** Asks for a snapshot, which comes in its place among the rest; none comes where nothing runs. */
  repaint(): void;
  stop(): void;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** What a view may be behind before it is shown the screen again: some seconds of a busy terminal. */
export const MOST_PENDING_BYTES = 1_048_576;
