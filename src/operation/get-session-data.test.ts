/** Reading a transcript takes time, and the agent writes on meanwhile: whoever asks gets what was said, not half of it. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTestClock } from "../../test/support/test-clock.ts";
import type { TranscriptMessage } from "../agent/contract.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { inertRuntime } from "../runtime/inert-runtime.ts";
import { localFiles } from "../runtime/local-files.ts";
import { amend } from "../session/amend.ts";
import { putSession } from "../store/change.ts";
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

function readAfter(since: number | null, files: Files, clock: Clock) {
  const supervisor = { runtime: () => ({ ...inertRuntime("tmux", "not asked"), files }) };
  return readWholeTurn({ clock, store: ground.store, supervisor }, ground.session(), agent, 1_000, since);
}

async function textsAfter(
  since: number | null,
  files: Files,
  clock: Clock = systemClock,
): Promise<readonly string[] | undefined> {
  const read = await readAfter(since, files, clock);
  return read?.messages.map(({ text }) => text);
}

/** The agent writes its reply just after this reading of its transcript. */
const repliesAfter = (reading: number): Files => writesAfter(reading, "assistant: gone\n");

function writesAfter(reading: number, text: string): Files {
  let readings = 0;
  return {
    ...localFiles,
    async readTail(path, options) {
      const read = await localFiles.readTail(path, options);
      if ((readings += 1) === reading) appendFileSync(transcript, text);
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

test.each([null, 0])(
  "a reply that is not written down in time is missed in the note, with cursor %s",
  async (since) => {
    const clock = makeTestClock();
    const read = await clock.during(readAfter(since, localFiles, clock));
    expect(read).toMatchObject({
      note: expect.stringContaining("may be behind") as string,
      messages: [{ text: "go" }],
    });
    appendFileSync(transcript, "assistant: gone\n");
    const later = await clock.during(readAfter(since, localFiles, clock));
    expect(later).toMatchObject({ messages: [{ text: "go" }, { text: "gone" }] });
    expect(later?.note).not.toContain("behind");
  },
);

test.each([
  ["that is gone", { exit: { code: null, signal: "SIGKILL", at: 1 } }],
  ["that has gone, and another is about to follow", { place: null }],
  ["that another has followed", { startedAt: Date.now() + 60_000 }],
] as const)("a reply of a process %s is not waited for", async (_, process) => {
  const now = ground.session();
  await ground.store.commit({ changes: [putSession(amend(now, { revision: now.revision + 1, process }))] });
  // On a clock that stands still a wait would last for ever.
  const read = await readAfter(null, localFiles, makeTestClock());
  expect(read).toMatchObject({ note: expect.stringContaining("may be behind") as string, messages: [{ text: "go" }] });
});

describe("a message that the session took", () => {
  beforeEach(async () => {
    appendFileSync(transcript, "assistant: gone\n");
    const message = {
      id: "m",
      sessionId: "s",
      text: "and now?",
      submit: true,
      how: "queue",
      caller: "operator",
    } as const;
    await ground.ledger.admit({ ...message, state: "admitted", admittedAt: 1, settled: null, detail: null });
    const turn = { phase: "started", id: "2", prompt: "and now?" } as const;
    await ground.readings.take(ground.session(), { source: "hook", detail: "a hook", turn });
    const admitted = ground.store.mailbox.get("m");
    if (admitted !== undefined) await ground.ledger.settle(admitted, "delivered", null, null);
  });

  test("is in the answer, though it is written down a moment later", async () => {
    expect(await textsAfter(null, writesAfter(3, "user: and now?\n"))).toEqual(["go", "gone", "and now?"]);
  });

  test("is in the answer, though the transcript is found a moment later", async () => {
    appendFileSync(transcript, "user: and now?\n");
    const tell = (status: "observable" | "lost") =>
      ground.readings.take(ground.session(), { source: "hook", detail: "a hook", transcript: status });
    await tell("lost");
    const clock = makeTestClock();
    const texts = textsAfter(null, localFiles, clock);
    await clock.advance(100);
    await tell("observable");
    expect(await clock.during(texts)).toEqual(["go", "gone", "and now?"]);
  });

  test("is missed in the note if the transcript does not show it in time", async () => {
    const clock = makeTestClock();
    const read = await clock.during(readAfter(null, localFiles, clock));
    expect(read).toMatchObject({ note: expect.stringContaining("behind") as string, messages: [{}, {}] });
  });
});
