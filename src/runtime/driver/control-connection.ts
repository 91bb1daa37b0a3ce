/**
 * One control-mode client of a tmux server. Owns that client, the order of
 * commands and replies, and the time-out. Never starts a server and never
 * reconnects; whoever opened it does that.
 */
import type { Clock } from "../../platform/clock.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Transport } from "../transport.ts";
import { createControlParser, type Reply } from "./control-parser.ts";

export interface ControlCommand {
  readonly text: string;
  /** For replies that hold untrusted text: their number of lines, from the replies before it in the same line. */
  readonly bodyLines?: (earlier: readonly Reply[]) => number;
}

export interface ControlConnection {
  /**
   * Sends the commands as one line, which tmux runs without a pause between;
   * the first that fails ends the line. Rejects only if the connection is lost.
   * `onReply` is called before anything that tmux printed later is looked at.
   */
  request(commands: readonly ControlCommand[], onReply?: (answer: Answer) => void): Promise<Answer>;
  readonly isOpen: boolean;
  /** Open, but tmux owes an answer for too long; nothing can be asked until it comes. */
  readonly isStalled: boolean;
  /** Of the client process, where it is one of this machine. */
  readonly pid: number | undefined;
  close(reason: string): void;
  /** Resolves with the reason once the client is gone. */
  readonly closed: Promise<string>;
}

export interface Answer {
  /** One per command that ran; where `error` is set, the last command failed and its successors did not run. */
  readonly replies: readonly Reply[];
  readonly error: string | null;
}

export interface ConnectionOptions {
  readonly argv: readonly string[];
  readonly transport: Transport;
  readonly clock: Clock;
  readonly onOutput: (paneId: string, bytes: Buffer) => void;
  readonly onNotification: (name: string, rest: string) => void;
  /** tmux answers again after a stall. */
  readonly onRevived: () => void;
}

interface Pending {
  readonly commands: readonly ControlCommand[];
  readonly replies: Reply[];
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

/**
 * tmux answers in milliseconds, and a caller of Reeve waits 5 s at most. Two
 * looks, because the first one after a sleep of the machine proves nothing.
 */
const LOOK_MS = 1_500;

export function openControlConnection(options: ConnectionOptions): ControlConnection {
  const queue: Pending[] = [];
  const ended = new AbortController();
  let isWatched = false;
  let isAttached = false;
  let isStalled = false;
  let reason: string | null = null;

  const parser = createControlParser({
    bodyLines() {
      const head = queue[0];
      return head?.commands[head.replies.length]?.bodyLines?.(head.replies) ?? null;
    },
    reply(reply) {
      const head = queue[0];
      if (head === undefined) return;
      head.replies.push(reply);
      if (!reply.isError && head.replies.length < head.commands.length) return;
      queue.shift();
      head.settle({ replies: head.replies, error: reply.isError ? reply.lines.join(" ") : null });
      if (!isStalled || queue.length > 0) return;
      isStalled = false;
      options.onRevived();
    },
    otherReply(reply) {
      // tmux 3.3a goes on to answer commands although it could not attach, and then ends.
      if (!isAttached && reply.isError) lose(reply.lines.join(" "));
      isAttached = true;
    },
    output: options.onOutput,
    notification(name, rest) {
      // The last thing that a client says. Its stream may stay open where something else holds it.
      if (name === "exit") return lose(rest === "" ? "tmux ended the connection" : rest);
      options.onNotification(name, rest);
    },
  });

  const lose = (why: string, details: object = {}): void => {
    if (reason !== null) return;
    reason = why;
    ended.abort();
    for (const pending of queue.splice(0)) pending.fail(unreachable(why, details));
    stream.close();
  };

  /**
   * The client is left where it is, and what it still gets is matched to what was asked. A server that is busy or
   * stopped must not find it gone and another one coming: tmux 3.3a then crashes, with every session in it (it tells
   * the newcomer, which is not set up yet, that the other has left: control_notify_client_detached).
   */
  const stall = (): void => {
    isStalled = true;
    const why = `tmux did not answer for ${(2 * LOOK_MS) / 1000} s`;
    for (const pending of queue) pending.fail(unreachable(why, { timedOut: true }));
  };

  const watch = async (): Promise<void> => {
    let suspect: Pending | undefined;
    while (queue.length > 0) {
      const head = queue[0];
      const lookedAt = options.clock.monotonic();
      await options.clock.sleep(LOOK_MS, ended.signal);
      const wasAsleep = options.clock.monotonic() - lookedAt > 2 * LOOK_MS;
      if (queue[0] !== head || wasAsleep) suspect = undefined;
      else if (suspect === head) return stall();
      else suspect = head;
    }
  };

  const stream = options.transport.openStream(options.argv, (chunk) => {
    if (reason !== null) return;
    try {
      parser.push(chunk);
    } catch (error) {
      lose(messageOf(error));
    }
  });
  const closed = stream.closed.then((why) => {
    lose(why);
    return reason ?? why;
  });

  return {
    closed,
    pid: stream.pid,
    get isStalled() {
      return isStalled && reason === null;
    },
    get isOpen() {
      return reason === null;
    },
    request(commands, onReply) {
      if (reason !== null) return Promise.reject(unreachable(reason, { sent: false }));
      if (isStalled) return Promise.reject(unreachable("it has not answered what was asked before", { sent: false }));
      return new Promise((resolve, reject) => {
        const settle = (answer: Answer): void => {
          onReply?.(answer);
          resolve(answer);
        };
        queue.push({ commands, replies: [], settle, fail: reject });
        stream.write(`${commands.map(({ text }) => text).join(" ; ")}\n`);
        if (isWatched) return;
        isWatched = true;
        watch()
          .catch(() => {}) // aborted: the connection is gone and said so
          .finally(() => {
            isWatched = false;
          });
      });
    },
    close: (why) => lose(why),
  };
}

export function unreachable(why: string, details: object = {}): ReeveError {
  return new ReeveError({
    code: "runtime-unreachable",
    kind: "unavailable",
    message: `tmux cannot be asked right now: ${why}. Nothing was concluded from it; try again.`,
    details: { reason: why, ...details },
  });
}
