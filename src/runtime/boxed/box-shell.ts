/**
 * A shell that stays open in a box, for what tmux cannot tell: the processes
 * there, and signals to them. Questions are lines of shell code, one after the
 * other; the answer ends with a word that nothing inside can know beforehand.
 * Built-in commands need no new process, so it works where the box may have no
 * more of them. Opened when it is first needed.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { unreachable } from "../driver/control-connection.ts";
import type { ByteStream, Transport } from "../transport.ts";

export interface BoxShell {
  /** What the code prints. Rejects where it cannot be run, or takes too long: then nothing is known. */
  ask(code: string, timeoutMs?: number): Promise<Buffer>;
  close(): void;
}

/** Answers come within milliseconds; whoever asks Reeve waits 5 s at most. */
const ANSWER_MS = 3_000;
/** Far more than the processes of a box are worth. */
const MOST_BYTES = 8_388_608;

export function createBoxShell(transport: () => Promise<Transport>, clock: Clock): BoxShell {
  const queue = createKeyedQueue();
  let stream: ByteStream | null = null;
  let heard: (chunk: Buffer) => void = () => undefined;
  let isClosed = false;

  const open = async (): Promise<ByteStream> => {
    if (stream !== null) return stream;
    const opened = (await transport()).openStream(["/bin/sh"], (chunk) => heard(chunk));
    stream = opened;
    void opened.closed.then(() => (stream === opened ? (stream = null) : undefined));
    return opened;
  };

  const end = (opened: ByteStream): void => {
    if (stream === opened) stream = null;
    opened.close();
  };

  const ask = async (code: string, timeoutMs: number): Promise<Buffer> => {
    if (isClosed) throw unreachable("this runtime was closed");
    const opened = await open();
    const word = randomUUID();
    const ending = Buffer.from(`\n${word}\n`);
    const answered = new AbortController();
    const answer = new Promise<Buffer>((resolve, reject) => {
      let pieces: Buffer[] = [];
      let size = 0;
      heard = (chunk) => {
        pieces.push(chunk);
        size += chunk.length;
        if (size > MOST_BYTES) return reject(unreachable("the answer from inside the container has no end"));
        if (chunk.lastIndexOf(0x0a) < 0) return;
        const whole = Buffer.concat(pieces);
        pieces = [whole];
        if (whole.subarray(-ending.length).equals(ending)) resolve(whole.subarray(0, -ending.length));
      };
      void opened.closed.then((why) => reject(unreachable(`nothing can be run in its container: ${why}`)));
      clock.sleep(timeoutMs, answered.signal).then(
        () => reject(unreachable("the shell in its container does not answer", { timedOut: true })),
        () => undefined, // answered
      );
      opened.write(`{ ${code}\n} 2>/dev/null </dev/null; printf '\\n%s\\n' ${word}\n`);
    });
    try {
      return await answer;
    } catch (error) {
      end(opened);
      throw error;
    } finally {
      answered.abort();
      heard = () => undefined;
    }
  };

  return {
    ask: (code, timeoutMs = ANSWER_MS) => queue.run("question", () => ask(code, timeoutMs)),
    close() {
      isClosed = true;
      stream?.close();
    },
  };
}
