/** Target 3: the last 48 KB of a transcript, of 10 MB and of 1 GB: what is before the tail must not be felt. */
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createBenchHome } from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { restingSession, seedSessions } from "./support/seed.ts";
import type { Target } from "./support/target.ts";

const MB = 1024 * 1024;
const TAIL_BYTES = 49_152;
const SIZES = { small: 10 * MB, large: 1024 * MB } as const;

export const sessionData: Target = {
  number: 3,
  title: "get_session_data, 48 KB tail",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    const { bavail, bsize } = statfsSync(home.dir);
    if (bavail * bsize < 4 * SIZES.large)
      throw new Error("there is too little room on the disk for a transcript of 1 GB");
    const pathOf = (number: number): string =>
      join(home.outputsDir, "agents", "agent", `bench0000${number}`, "transcript.jsonl");
    const small = restingSession(home.dir, 1, { agent: "practice", transcriptPath: pathOf(1) });
    const large = restingSession(home.dir, 2, { agent: "practice", transcriptPath: pathOf(2) });
    await seedSessions(home.dir, [small, large]);
    writeTranscript(pathOf(1), SIZES.small);
    writeTranscript(pathOf(2), SIZES.large);
    scope.defer(() => rmSync(pathOf(2), { force: true }));

    const daemon = await home.startDaemon();
    const bareSocket = join(home.dir, "bare.sock");
    await keepProgram(scope, build.bare("tail-server"), {
      args: [bareSocket, pathOf(1)],
      environment: home.environment,
    });
    await untilQuiet(daemon.pid, 5_000);
    const client = createHttpClient(scope, home.socketPath);
    const bareClient = createHttpClient(scope, bareSocket);
    const read = (id: string): Promise<Buffer> => client.get(`/v1/sessions/${id}/data?tail=${TAIL_BYTES}`);
    for (const { id } of [small, large]) requireMessages(await read(id));

    const samples = await alternate({ count: rounds(400, 120), warmUp: 100, pauseMs: 0 }, [
      async () => ({ bare: await timed(() => bareClient.get("/")) }),
      async () => ({ small: await timed(() => read(small.id)) }),
      async () => ({ large: await timed(() => read(large.id)) }),
    ]);
    const baselineName = "pread + parse + round trip";
    add(
      compare({
        target: 3,
        what: "tail of 10 MB",
        subject: samples("small"),
        baseline: samples("bare"),
        baselineName,
        limit: atMost(1.5),
      }),
      compare({
        target: 3,
        what: "tail of 1 GB",
        subject: samples("large"),
        baseline: samples("bare"),
        baselineName,
        limit: atMost(1.5),
      }),
      compare({
        target: 3,
        what: "1 GB against 10 MB",
        subject: samples("large"),
        baseline: samples("small"),
        baselineName: "tail of 10 MB",
        limit: atMost(1.2),
      }),
    );
  },
};

/** Real lines, no holes: a block of whole turns, again and again. */
function writeTranscript(path: string, bytes: number): void {
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

function requireMessages(answer: Buffer): void {
  const { source, messages } = JSON.parse(answer.toString()) as {
    readonly source: string;
    readonly messages?: readonly unknown[];
  };
  if (source !== "transcript" || messages === undefined || messages.length < 50)
    throw new Error("the answer holds no transcript");
}
