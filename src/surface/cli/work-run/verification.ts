/**
 * Runs a verification command to its end, and nothing longer than that. The
 * command is not read by a shell. It runs in a process group of its own, which a
 * few lines of sh lead: they report its exit status and then end the group, so
 * nothing that the command started in it stays behind. They do the same when
 * their standard input is closed. That is how a command is ended that takes too
 * long, and because the kernel closes it with whoever started them, also how one
 * is ended whose `reeve work run` was killed, by Ctrl-C or by SIGKILL.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { messageOf } from "../../../platform/reeve-error.ts";
import { keepTail, stripTerminal } from "../../../platform/terminal-text.ts";

export interface VerificationRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The user's; Reeve's own variables are taken out. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Between the polite end and the firm one. */
  readonly graceMs?: number;
  /** Ends it as the time limit does. */
  readonly signal?: AbortSignal;
}

export interface Verified {
  /** Null: it did not end by itself. */
  readonly exitCode: number | null;
  /** The end of what it printed, or why there is no exit code. */
  readonly text: string;
}

const MOST_OUTPUT_BYTES = 8_192;
const GRACE_MS = 5_000;

/**
 * $1 is the grace in seconds, the rest the command. Descriptor 0 is the order to
 * end, 3 is where the exit status goes. Only the leader and the one that waits
 * for the order outlast SIGTERM.
 */
const LEADER = `
grace=$1; shift
trap '' TERM
( trap - TERM; exec "$@" </dev/null 3>&- ) & command=$!
( read -r order; kill -TERM 0; sleep "$grace"; kill -KILL 0 ) <&4 4<&- >/dev/null 2>&1 3>&- &
exec 4<&-
wait "$command"; status=$?
echo "$status" >&3
kill -KILL 0
`;

/** Resolves when nothing of it is left in its process group; never rejects. */
export async function runVerification(request: VerificationRequest): Promise<Verified> {
  const { argv, cwd, environment, timeoutMs, graceMs = GRACE_MS, signal } = request;
  const child = spawn("/bin/sh", ["-c", `exec 4<&0 </dev/null${LEADER}`, "verify", String(graceMs / 1_000), ...argv], {
    cwd,
    env: withoutOwn(environment),
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  // The leader may be gone before it is told to end.
  child.stdin?.on("error", () => undefined);
  let isLate = false;
  const end = (): void => void child.stdin?.destroy();
  if (signal?.aborted === true) end();
  signal?.addEventListener("abort", end);
  const late = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  const output = tailOf([child.stdout, child.stderr]);
  const status = textOf(child.stdio[3] as Readable);
  try {
    await ended(child);
  } catch (error) {
    return { exitCode: null, text: `The command could not be started: ${messageOf(error)}` };
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", end);
    end();
  }
  const printed = output();
  const code = Number.parseInt(status(), 10);
  if (isLate || Number.isNaN(code)) {
    const why = isLate
      ? `The command did not end within ${timeoutMs / 1_000} s and was ended.`
      : "The command was ended from outside.";
    return { exitCode: null, text: printed === "" ? why : `${why} The end of what it printed:\n${printed}` };
  }
  return { exitCode: code, text: printed };
}

/** A process that left the group may hold its output open: what that prints is not waited for. */
const LAST_OUTPUT_MS = 500;

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
    child.once("exit", () => setTimeout(resolve, LAST_OUTPUT_MS));
  });
}

function tailOf(streams: readonly (Readable | null)[]): () => string {
  let kept = Buffer.alloc(0);
  for (const stream of streams)
    stream?.on("data", (bytes: Buffer) => {
      // Twice what is kept, so that a cut is not made for every piece.
      kept = Buffer.concat([kept, bytes]);
      if (kept.length > 4 * MOST_OUTPUT_BYTES) kept = kept.subarray(-2 * MOST_OUTPUT_BYTES);
    });
  return () => {
    for (const stream of streams) stream?.destroy();
    return keepTail(stripTerminal(kept.toString("utf8")), MOST_OUTPUT_BYTES).trim();
  };
}

function textOf(stream: Readable): () => string {
  let text = "";
  stream.on("data", (bytes: Buffer) => (text += bytes.toString("utf8")));
  return () => {
    stream.destroy();
    return text;
  };
}

function withoutOwn(environment: VerificationRequest["environment"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || name.startsWith("REEVE_") ? [] : [[name, value]],
    ),
  );
}
