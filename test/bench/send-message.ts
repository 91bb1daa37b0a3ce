/**
 * Target 6: a message sent, recorded before and after, against the fork of
 * `tmux send-keys -l` that records nothing. Whatever was sent must be what a
 * `cat` in the session received, byte for byte.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { callerEnvironment, createBenchHome, type SessionAnswer } from "./support/bench-home.ts";
import { createHttpClient, followEvents } from "./support/http-client.ts";
import { alternate, atMost, compare } from "./support/measure.ts";
import { startRawTmux } from "./support/raw-tmux.ts";
import type { Target } from "./support/target.ts";

/** tmux 3.3a takes 16 KB as one command, its other words included. */
const LARGEST_COMMAND_BYTES = 16_000;

export const sendMessage: Target = {
  number: 6,
  title: "send a message, durably",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const events = await followEvents(scope, home.socketPath, 0);
    const raw = await startRawTmux(scope, home.dir);

    for (const [what, bytes, full, quick] of [
      ["100 B", 100, 100, 30],
      ["20 KB", 20_480, 30, 10],
      ["1 MB", 1_048_576, 6, 3],
    ] as const) {
      const received = { reeve: join(home.dir, `reeve-${bytes}`), raw: join(home.dir, `raw-${bytes}`) };
      const catInto = (path: string): string[] => ["sh", "-c", `exec cat > '${path}'`];
      const start = { agent: "command", args: catInto(received.reeve), cwd: "/tmp", environment: callerEnvironment() };
      const { session_id } = await client.postJson<SessionAnswer>("/v1/sessions", start);
      await events.arrival("session-running", session_id);
      await raw.time(
        "new-session",
        "-d",
        "-s",
        `cat-${bytes}`,
        "-x",
        "200",
        "-y",
        "50",
        "--",
        ...catInto(received.raw),
      );
      await Promise.all([sizeReaches(received.reeve, 0), sizeReaches(received.raw, 0)]);
      const expected = { reeve: "", raw: "" };
      let number = 0;

      const samples = await alternate({ count: rounds(full, quick), warmUp: bytes > 100_000 ? 1 : 5, pauseMs: 10 }, [
        async () => {
          const text = plainText(bytes, (number += 1));
          expected.raw += `${text}\n`;
          const startedAt = performance.now();
          await forkSendKeys(raw.time, `=cat-${bytes}:`, text);
          const fork = performance.now() - startedAt;
          await sizeReaches(received.raw, Buffer.byteLength(expected.raw));
          return { fork, forkArrived: performance.now() - startedAt };
        },
        async () => {
          const text = awkwardText(bytes, (number += 1));
          expected.reeve += `${text}\n`;
          const startedAt = performance.now();
          const { state } = await client.postJson<{ state: string }>(`/v1/sessions/${session_id}/messages`, { text });
          const sent = performance.now() - startedAt;
          if (state !== "delivered") throw new Error(`the message of ${bytes} bytes is ${state}`);
          await sizeReaches(received.reeve, Buffer.byteLength(expected.reeve));
          return { sent, sentArrived: performance.now() - startedAt };
        },
      ]);
      const isExact = readFileSync(received.reeve).equals(Buffer.from(expected.reeve));
      const forks = Math.ceil(bytes / LARGEST_COMMAND_BYTES);
      const baselineName = `${forks} × fork tmux send-keys`;
      const exactness = `${number / 2} messages ${isExact ? "byte-exact" : "NOT byte-exact"}`;
      add(
        compare({
          target: 6,
          what: `${what} sent`,
          subject: samples("sent"),
          baseline: samples("fork"),
          baselineName,
          limit: atMost(0.6),
          failed: isExact ? null : exactness,
          note: exactness,
        }),
        compare({
          target: 6,
          what: `${what} received by the program`,
          subject: samples("sentArrived"),
          baseline: samples("forkArrived"),
          baselineName,
        }),
      );
    }
  },
};

/** One fork for as much as one command may hold; Enter goes with the last. */
async function forkSendKeys(
  time: (...args: readonly string[]) => Promise<number>,
  target: string,
  text: string,
): Promise<void> {
  for (let from = 0; from < text.length; from += LARGEST_COMMAND_BYTES) {
    const isLast = from + LARGEST_COMMAND_BYTES >= text.length;
    const enter = isLast ? [";", "send-keys", "-t", target, "Enter"] : [];
    await time("send-keys", "-t", target, "-l", "--", text.slice(from, from + LARGEST_COMMAND_BYTES), ...enter);
  }
}

/** Exactly so many bytes, in lines a terminal takes. */
function plainText(bytes: number, number: number): string {
  return fill(bytes, `${number} the quick brown fox jumps over the lazy dog 0123456789 and on it goes to the end`);
}

/** The same, of what shells, tmux and encodings like to change. */
function awkwardText(bytes: number, number: number): string {
  return fill(bytes, `-${number}; "it's" $HOME \`id\` \\n #{pane_id} ~ %1 é ü 漢字 😀 \t tab && |> x; `);
}

function fill(bytes: number, line: string): string {
  const unit = bytes > 200 ? `${line}\n` : line;
  let text = unit.repeat(Math.floor((bytes - 1) / Buffer.byteLength(unit)));
  const left = bytes - Buffer.byteLength(text);
  text += "x".repeat(Math.min(left, 60));
  return text + "\n.".repeat(bytes).slice(0, bytes - Buffer.byteLength(text));
}

async function sizeReaches(path: string, bytes: number): Promise<void> {
  const endsAt = performance.now() + 20_000;
  for (;;) {
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size !== undefined && size >= bytes) return;
    if (performance.now() > endsAt) throw new Error(`${size ?? "no"} bytes of ${bytes} arrived in ${path}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
