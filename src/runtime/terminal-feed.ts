/**
 * Buffers the output that one view of a terminal has not read yet. The buffer
 * is bounded: if a reader falls too far behind, the buffer is dropped, and the
 * reader gets a snapshot when it reads again.
 */
import type { TerminalOutput, TerminalSnapshot } from "./terminal.ts";

export interface TerminalFeed {
  readonly output: AsyncIterable<TerminalOutput>;
  /** Ignored while a snapshot is owed: it will be in that. */
  push(bytes: Buffer): void;
  /** What comes next follows on this one. */
  show(snapshot: TerminalSnapshot): void;
  /** What waits cannot be trusted any more; a new snapshot is owed. */
  renew(): void;
  end(): void;
}

export function createTerminalFeed(options: {
  readonly mostBytes: number;
  /** Asks for a snapshot, which `show` brings; not again before it came. */
  readonly onOwed: () => void;
}): TerminalFeed {
  let pending: TerminalOutput[] = [];
  let pendingBytes = 0;
  let owes: "nothing" | "asked" | "when read" = "when read";
  let isEnded = false;
  let wake = (): void => undefined;

  function add(piece: TerminalOutput): void {
    pending.push(piece);
    if (piece.type === "bytes") pendingBytes += piece.bytes.length;
    wake();
  }

  function renew(): void {
    if (isEnded) return;
    pending = [];
    pendingBytes = 0;
    owes = "when read";
    wake();
  }

  async function next(): Promise<TerminalOutput | null> {
    for (;;) {
      const piece = pending.shift();
      if (piece !== undefined) {
        if (piece.type === "bytes") pendingBytes -= piece.bytes.length;
        return piece;
      }
      if (isEnded) return null;
      const woken = new Promise<void>((resolve) => (wake = resolve));
      if (owes === "when read") {
        owes = "asked";
        options.onOwed();
      }
      await woken;
    }
  }

  async function* read(): AsyncGenerator<TerminalOutput, void> {
    for (let piece = await next(); piece !== null; piece = await next()) yield piece;
  }

  return {
    output: { [Symbol.asyncIterator]: read },
    push(bytes) {
      if (owes !== "nothing" || isEnded) return;
      add({ type: "bytes", bytes });
      if (pendingBytes > options.mostBytes) renew();
    },
    show(snapshot) {
      if (owes !== "asked" || isEnded) return;
      owes = "nothing";
      add(snapshot);
    },
    renew,
    end() {
      isEnded = true;
      wake();
    },
  };
}
