/**
 * Target 3: the last 48 KB of a transcript, of 10 MB and of 1 GB: what is
 * before the tail must not be felt. For the practice agent and, with lines that
 * they wrote, for the real ones.
 */
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createBenchHome } from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { type RealAgent, writeRealTranscript } from "./support/real-transcript.ts";
import { restingSession, seedSessions } from "./support/seed.ts";
import type { Target } from "./support/target.ts";

const MB = 1024 * 1024;
const TAIL_BYTES = 49_152;
/** Fewest messages that an answer must hold, or it is not the transcript. */
const AGENTS = { practice: 50, codex: 20, claude: 20, gemini: 8 } as const satisfies Record<
  "practice" | RealAgent,
  number
>;

export const sessionData: Target = {
  number: 3,
  title: "get_session_data, 48 KB tail",
  async measure({ scope, build, isQuick, rounds, add }) {
    const home = createBenchHome(scope, build);
    const sizes = { small: 10 * MB, large: (isQuick ? 100 : 1024) * MB };
    const large = isQuick ? "100 MB" : "1 GB";
    const { bavail, bsize } = statfsSync(home.dir);
    if (bavail * bsize < 4 * sizes.large) throw new Error(`there is too little room for a transcript of ${large}`);

    const cases = Object.entries(AGENTS).map(([name, fewest], index) => {
      const agent = name as keyof typeof AGENTS;
      const session = (size: keyof typeof sizes, number: number) => {
        const path = join(home.dir, "transcripts", `${agent}-${size}.jsonl`);
        return { path, row: restingSession(home.dir, number, { agent, transcriptPath: path }) };
      };
      return { agent, fewest, small: session("small", 2 * index + 1), large: session("large", 2 * index + 2) };
    });
    await seedSessions(
      home.dir,
      cases.flatMap(({ small, large: other }) => [small.row, other.row]),
    );
    const daemon = await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const read = (id: string): Promise<Buffer> => client.get(`/v1/sessions/${id}/data?tail=${TAIL_BYTES}`);

    for (const { agent, fewest, small, large: long } of cases) {
      for (const [{ path }, bytes] of [[small, sizes.small] as const, [long, sizes.large] as const]) {
        if (agent === "practice") writePracticeTranscript(path, bytes);
        else writeRealTranscript(path, agent, bytes);
      }
      const bareSocket = join(home.dir, `bare-${agent}.sock`);
      const bare = await keepProgram(scope, build.bare("tail-server"), {
        args: [bareSocket, small.path],
        environment: home.environment,
      });
      const bareClient = createHttpClient(scope, bareSocket);
      await untilQuiet(daemon.pid, 5_000);
      const messages = requireMessages(await read(small.row.id), fewest);
      requireMessages(await read(long.row.id), fewest);

      const samples = await alternate({ count: rounds(400, 120), warmUp: 100, pauseMs: 0 }, [
        async () => ({ bare: await timed(() => bareClient.get("/")) }),
        async () => ({ small: await timed(() => read(small.row.id)) }),
        async () => ({ large: await timed(() => read(long.row.id)) }),
      ]);
      await bare.kill();
      rmSync(long.path, { force: true });
      const common = { target: 3, baseline: samples("bare"), baselineName: "pread + parse + round trip" } as const;
      add(
        compare({
          ...common,
          what: `${agent}, tail of 10 MB`,
          subject: samples("small"),
          limit: atMost(1.5),
          note: `${messages} messages`,
        }),
        compare({ ...common, what: `${agent}, tail of ${large}`, subject: samples("large"), limit: atMost(1.5) }),
        compare({
          target: 3,
          what: `${agent}, ${large} against 10 MB`,
          subject: samples("large"),
          baseline: samples("small"),
          baselineName: "tail of 10 MB",
          limit: atMost(1.2),
        }),
      );
    }
  },
};

/** Real lines, no holes: a block of whole turns, again and again. */
function writePracticeTranscript(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const block = Buffer.from(turns(MB));
  const file = openSync(path, "w", 0o600);
  for (let written = 0; written < bytes;) written += writeSync(file, block);
  closeSync(file);
}

function turns(bytes: number): string {
  const at = new Date().toISOString();
  const sentence = "Looked at the failing test, found the off-by-one in the page count, and mended it; “déjà vu”. ";
  let text = "";
  for (let turn = 1; text.length < bytes; turn += 1) {
    text += `${JSON.stringify({ type: "turn_started", turn, at })}\n`;
    text += `${JSON.stringify({ type: "user", turn, at, text: `Please look at test ${turn}.` })}\n`;
    text += `${JSON.stringify({ type: "tool", turn, at, text: sentence.repeat(8) })}\n`;
    text += `${JSON.stringify({ type: "assistant", turn, at, text: sentence.repeat(4) })}\n`;
    text += `${JSON.stringify({ type: "turn_completed", turn, at })}\n`;
  }
  return text;
}

/** How many. */
function requireMessages(answer: Buffer, fewest: number): number {
  const { source, messages } = JSON.parse(answer.toString()) as {
    readonly source: string;
    readonly messages?: readonly { readonly tool: unknown }[];
  };
  if (source !== "transcript" || messages === undefined || messages.length < fewest)
    throw new Error(`the answer holds no transcript: ${source}, ${messages?.length ?? 0} messages`);
  return messages.length;
}
