/** Reading a transcript takes time, and the agent writes on meanwhile: whoever asks gets what was said, not half of it. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TranscriptMessage } from "../agent/contract.ts";
import { systemClock } from "../platform/clock.ts";
import { inertRuntime } from "../runtime/inert-runtime.ts";
import { localFiles } from "../runtime/local-files.ts";
import { makeHome } from "../store/store-fixture.ts";
import { agentWith, type Ground, makeGround } from "../supervisor/attention/watch-fixture.ts";
import { readWholeTurn } from "./get-session-data.ts";

type Files = typeof localFiles;

const agent = agentWith({
  readMessages: (lines) =>
    lines.map((line): TranscriptMessage => {
      const [role, text] = line.split(": ") as ["user" | "assistant", string];
      return { role, text, tool: null, usage: null, at: null, turn: null };
    }),
});

let ground: Ground;
let transcript = "";
beforeEach(async () => {
  const home = makeHome();
  transcript = join(home.directory, "transcript");
  writeFileSync(transcript, "user: go\n");
  const observability = { status: "observable", expected: true, reason: "found", transcriptPath: transcript } as const;
  ground = await makeGround(agent, { watch: { observability } }, home);
  for (const phase of ["started", "completed"] as const)
    await ground.readings.take(ground.session(), { source: "hook", detail: "a hook", turn: { phase, id: "1" } });
});
afterEach(() => ground.dispose());

async function textsAfter(since: number | null, files: Files): Promise<readonly string[] | undefined> {
  const supervisor = { runtime: () => ({ ...inertRuntime("tmux", "not asked"), files }) };
  const read = await readWholeTurn(
    { clock: systemClock, store: ground.store, supervisor },
    ground.session(),
    agent,
    1_000,
    since,
  );
  return read?.messages.map(({ text }) => text);
}

/** The agent writes its reply just after this reading of its transcript. */
function repliesAfter(reading: number): Files {
  let readings = 0;
  return {
    ...localFiles,
    async readTail(path, options) {
      const read = await localFiles.readTail(path, options);
      if ((readings += 1) === reading) appendFileSync(transcript, "assistant: gone\n");
      return read;
    },
  };
}

test.each([1, 2, 3, 4])(
  "a reply that is written beside reading %i is in the answer, with a cursor too",
  async (reading) => {
    expect(await textsAfter(0, repliesAfter(reading))).toEqual(["go", "gone"]);
  },
);

test.each([1, 2, 3])("a reply that is written beside reading %i is in the answer", async (reading) => {
  expect(await textsAfter(null, repliesAfter(reading))).toEqual(["go", "gone"]);
});
