/**
 * How programs are run where a tmux server is: as children of the daemon, or
 * through whatever leads into a container. The driver of tmux knows no other
 * way, and cannot tell which one it has.
 */

/** A program that runs, seen from this side: pipes to its standard input and output. */
export interface ByteStream {
  /** In the order of the calls, also before it has begun to run. Nothing is told of what does not arrive but `closed`. */
  write(text: string): void;
  /** Ends it: its standard input is closed, and what it prints from now on is not told any more. */
  close(): void;
  /** Resolves, with the reason for people, once nothing more will come. Never rejects. */
  readonly closed: Promise<string>;
  /** The process on this machine that is at this end of it; undefined where there is none. */
  readonly pid: number | undefined;
}

export interface Transport {
  /** Runs a program until one of the two sides ends it. */
  openStream(argv: readonly string[], onData: (chunk: Buffer) => void): ByteStream;
}
