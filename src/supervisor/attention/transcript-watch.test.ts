/** Real files, as an agent would write them; what is read of them is in a real store. */
import { appendFileSync, linkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { makeTestClock } from "../../../test/support/test-clock.ts";
import type { Agent, TranscriptMessage } from "../../agent/contract.ts";
import type { Input } from "../../session/input.ts";
import type { Reading } from "../../session/reading.ts";
import { makeHome, type TestHome } from "../../store/store-fixture.ts";
import { createTranscriptWatch } from "./transcript-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";
import type { Watcher } from "./watcher.ts";

/** `begin a`, `end a`, `cost 5`, `said …`, `asked …`; anything else says nothing. */
const agent: Agent = agentWith({
  readMessages: (lines) =>
    lines.flatMap((line): readonly TranscriptMessage[] => {
      const [, word, text = ""] = /^(said|asked) (.*)$/.exec(line) ?? [];
      return word === undefined
        ? []
        : [{ role: word === "said" ? "assistant" : "user", text, tool: null, usage: null, at: null, turn: null }];
    }),
  readLine(line): Reading | null {
    const [word, value = ""] = line.split(" ");
    const source = "transcript";
    switch (word) {
      case "begin":
        return { source, detail: line, turn: { phase: "started", id: value } };
      case "end":
        return { source, detail: line, turn: { phase: "completed", id: value } };
      case "cost": {
        const usage = { inputTokens: Number(value), cachedInputTokens: 0, outputTokens: 0, costUsd: null };
        return { source, detail: line, usage: { kind: "added", usage } };
      }
      default:
        return null;
    }
  },
});

let home: TestHome;
let ground: Ground;
let path: string;
let watcher: Watcher;
beforeEach(async () => {
  home = makeHome();
  path = join(home.directory, "transcript.jsonl");
  const observability = { status: "pending", expected: true, reason: "not yet", transcriptPath: path } as const;
  ground = await makeGround(agent, { watch: { observability } }, home);
  watcher = ground.use(createTranscriptWatch(ground.parts));
});
afterEach(() => ground.dispose());

const status = (): string => ground.session().watch.observability.status;
const tokens = (): number => ground.session().conversation.usage?.inputTokens ?? 0;
const add = (...lines: readonly string[]): void => appendFileSync(path, lines.map((line) => `${line}\n`).join(""));
const counted = (sum: number): Promise<unknown> => eventually(`${sum} tokens are counted`, () => tokens() === sum);
const turns = (): readonly string[] =>
  ground.events("turn-started", "turn-completed", "turn-interrupted").map(({ type, turn }) => `${type} ${turn}`);

/** Another session's, which is missing and overdue, tells that there was time enough. */
async function whenAnotherIsLost(): Promise<void> {
  const missing = join(home.directory, "missing.jsonl");
  const other = await makeGround(agent, {
    watch: { observability: { ...ground.session().watch.observability, transcriptPath: missing } },
  });
  try {
    const second = other.use(createTranscriptWatch(other.parts));
    await other.readings.take(other.session(), { source: "hook", detail: "Stop", turn: { phase: "completed" } });
    await eventually("the other's is lost", () => other.session().watch.observability.status === "lost");
    await second.close();
  } finally {
    await other.dispose();
  }
}

async function restart(): Promise<void> {
  ground = await ground.restart();
  watcher = ground.use(createTranscriptWatch(ground.parts));
}

describe("a transcript", () => {
  test("that appears late makes the session observable, once", async () => {
    expect(status()).toBe("pending");
    add("begin a");
    await eventually("it is observable", () => status() === "observable");
    add("end a", "cost 1");
    await counted(1);
    expect(ground.events("observability-changed")).toEqual([
      {
        type: "observability-changed",
        from: "pending",
        observability: { status: "observable", expected: true, reason: `${path} is there`, transcriptPath: path },
      },
    ]);
    expect(turns()).toEqual(["turn-started 1", "turn-completed 1"]);
  });

  test("that is empty is not there yet", async () => {
    writeFileSync(path, "");
    await ground.readings.take(ground.session(), { source: "hook", detail: "x", activity: "working" });
    expect(status()).toBe("pending");
    add("hello");
    await eventually("it is observable", () => status() === "observable");
  });

  test("is read line by line, each once, and no half lines", async () => {
    add("cost 1", "noise", "cost 2");
    await counted(3);
    appendFileSync(path, "cost 1");
    add("0", "cost 100");
    await counted(113);
    appendFileSync(path, "cost 5");
    add("", "cost 1000");
    await counted(1_118);
  });

  test("that grows fast is read whole", async () => {
    for (let round = 0; round < 50; round++) add(...Array.from({ length: 100 }, () => "cost 1"), "x".repeat(10_000));
    await counted(5_000);
    add("cost 1");
    await counted(5_001);
  });

  test("tells what the agent said last, also if as much was written after it as is read at once", async () => {
    add("said Both tests pass now.", `snapshot ${"x".repeat(120_000)}`, `snapshot ${"x".repeat(120_000)}`, "cost 1");
    await counted(1);
    await eventually("it is known", () => ground.session().notice.said === "Both tests pass now.");
    add("asked And the other one?", `snapshot ${"x".repeat(120_000)}`, "cost 1");
    await counted(2);
    await eventually("it is not what it said last any more", () => ground.session().notice.said === null);
  });

  test("that was there before is read from where it was left, exactly once", async () => {
    add("begin a", "cost 1");
    await counted(1);
    await restart();
    add("cost 10");
    await counted(11);
    await restart();
    await restart();
    add("end a", "cost 100");
    await counted(111);
    expect(turns()).toEqual(["turn-started 1", "turn-completed 1"]);
  });

  test("what was written while nobody watched is read afterwards", async () => {
    add("cost 1");
    await counted(1);
    await watcher.close();
    add("cost 10", "begin a", "end a");
    await restart();
    await counted(11);
    await eventually(
      "its turn is known",
      () => ground.session().conversation.turns === 1 && !ground.session().conversation.turnOpen,
    );
  });

  test("that was replaced, and into which nothing comes when a turn ends, is lost until something does", async () => {
    add("begin a", "end a");
    await eventually("it is read", () => turns().length === 2);
    writeFileSync(`${path}.new`, "begin a\nend a\n");
    renameSync(`${path}.new`, path);
    await eventually("that was noticed", () =>
      home.logged.some(({ message }) => message.startsWith("a transcript was replaced")),
    );
    const told = (phase: "started" | "completed"): Promise<void> =>
      ground.readings.take(ground.session(), { source: "hook", detail: phase, turn: { phase, id: "b" } });
    await told("started");
    await told("completed");
    await eventually("it is lost", () => status() === "lost");
    expect(ground.session().watch.observability.reason).toMatch(/did not grow although a turn has ended/);
    add("begin c");
    await eventually("it is observable again", () => status() === "observable");
    expect(ground.session()).toMatchObject({
      conversation: { turns: 3 },
      process: { liveness: { status: "running" } },
    });
  });

  test("that was replaced step by step, and into which nothing comes when a turn ends, is lost", async () => {
    const clock = makeTestClock();
    const file = join(home.directory, "another.jsonl");
    writeFileSync(file, "begin a\nend a\n");
    const observability = { status: "pending", expected: true, reason: "not yet", transcriptPath: file } as const;
    const own = await makeGround(agent, { watch: { observability } }, makeHome(), clock);
    try {
      own.use(createTranscriptWatch(own.parts));
      const isWatched = (): boolean => own.session().watch.observability.status === "observable";
      await eventually("it is read and watched", () => own.session().conversation.turns === 1 && isWatched());
      writeFileSync(`${file}.new`, "begin a\n");
      renameSync(`${file}.new`, file);
      const readTo = (text: string): Promise<unknown> =>
        eventually("it is read", () => own.session().watch.transcriptCursor?.offset === text.length);
      await readTo("begin a\n");
      // Whoever puts it there is not done.
      appendFileSync(file, "end a\n");
      await readTo("begin a\nend a\n");
      for (const phase of ["started", "completed"] as const)
        await own.readings.take(own.session(), { source: "hook", detail: phase, turn: { phase, id: "b" } });
      await eventually("it is lost", async () => {
        await clock.advance(500);
        return own.session().watch.observability.status === "lost";
      });
      expect(own.session().conversation.turns).toBe(2);
    } finally {
      await own.dispose();
    }
  });

  test("that was replaced is not told again, and read on from its end", async () => {
    add("cost 1", "cost 2");
    await counted(3);
    // As an agent does that compacts its transcript: more than fits into one read.
    writeFileSync(`${path}.new`, `cost 2\n${"old\n".repeat(100_000)}cost 50\n`);
    renameSync(`${path}.new`, path);
    await eventually("that is noticed", () =>
      home.logged.some(({ message }) => message.startsWith("a transcript was replaced")),
    );
    await eventually("its end is reached", () => (ground.session().watch.transcriptCursor?.offset ?? 0) > 400_000);
    add("cost 100");
    await counted(103);
    await restart();
    add("cost 1000");
    await counted(1_103);
  });

  test("that is seen empty while another takes its place is not told again either", async () => {
    add("cost 1", "cost 2");
    await counted(3);
    const before = ground.session().watch.transcriptCursor;
    renameSync(path, `${path}.old`);
    writeFileSync(path, "");
    // The agent still writes to the old one, so the name is looked at now.
    appendFileSync(`${path}.old`, "cost 10\n");
    await eventually("it counts as lost", () => status() === "lost");
    writeFileSync(path, "cost 1\ncost 2\n");
    await eventually("its end is reached", () => {
      const cursor = ground.session().watch.transcriptCursor;
      return cursor?.identity !== before?.identity && cursor?.offset === before?.offset;
    });
    add("cost 100");
    await counted(103);
  });

  test("whose lines could not be committed is read again", async () => {
    ground = await ground.restart();
    let failures = 1;
    const readings: typeof ground.readings = {
      ...ground.readings,
      takeLines: (...args) =>
        failures-- > 0 ? Promise.reject(new Error("the disk is full")) : ground.readings.takeLines(...args),
    };
    watcher = ground.use(createTranscriptWatch({ ...ground.parts, readings }));
    add("cost 1");
    await eventually("it failed", () =>
      home.logged.some(({ message }) => message === "a transcript could not be read"),
    );
    add("cost 10");
    await counted(11);
  });

  test("is read to its end when the session is over", async () => {
    add("begin a", "cost 1");
    await counted(1);
    add("end a", "cost 10");
    const gone: Input = {
      type: "found-exited",
      incarnation: 1,
      code: 0,
      signal: null,
      evidence: { source: "runtime", detail: "gone", at: 1 },
    };
    await ground.apply(gone);
    await watcher.leave(ground.session());
    expect([tokens(), turns()]).toEqual([11, ["turn-started 1", "turn-completed 1"]]);
    add("cost 100");
    await watcher.leave(ground.session());
    expect(tokens()).toBe(11);
  });

  test("at another place is read from its beginning", async () => {
    add("cost 1", "cost 2");
    await counted(3);
    const other = join(home.directory, "other.jsonl");
    writeFileSync(other, "cost 10\n");
    await ground.readings.take(ground.session(), { source: "hook", detail: "a fork", transcriptPath: other });
    await counted(13);
  });
});

describe("a transcript that is missing", () => {
  test("after a completed turn is lost", async () => {
    await ground.readings.take(ground.session(), { source: "hook", detail: "Stop", turn: { phase: "completed" } });
    await eventually("it is lost", () => status() === "lost");
    expect(ground.events("observability-changed")).toEqual([
      {
        type: "observability-changed",
        from: "pending",
        observability: {
          status: "lost",
          expected: false,
          reason: `a turn is complete, and there is still no ${path}`,
          transcriptPath: path,
        },
      },
    ]);
    add("cost 1");
    await eventually("it is observable after all", () => status() === "observable");
    await counted(1);
  });

  test("before one, or after one that failed, is as expected", async () => {
    await ground.readings.take(ground.session(), {
      source: "hook",
      detail: "failed",
      turn: { phase: "failed", error: "429" },
    });
    await whenAnotherIsLost();
    expect(status()).toBe("pending");
  });

  test("of a process that has completed no turn yet is as expected, whatever the one before it did", async () => {
    await ground.readings.take(ground.session(), { source: "hook", detail: "Prompt", turn: { phase: "started" } });
    await ground.readings.take(ground.session(), { source: "hook", detail: "Stop", turn: { phase: "completed" } });
    const { process, conversation, watch } = ground.session();
    await ground.dispose();
    home = makeHome();
    const startedAt = (conversation.lastTurn?.startedAt ?? 0) + 1;
    ground = await makeGround(agent, { process: { ...process, startedAt }, conversation, watch }, home);
    watcher = ground.use(createTranscriptWatch(ground.parts));
    watcher.attend(ground.session());
    await whenAnotherIsLost();
    expect(status()).toBe("pending");
    await ground.readings.take(ground.session(), { source: "hook", detail: "Prompt", turn: { phase: "started" } });
    await ground.readings.take(ground.session(), { source: "hook", detail: "Stop", turn: { phase: "completed" } });
    await eventually("it is lost", () => status() === "lost");
  });

  test("though it was there is lost, and says so", async () => {
    add("cost 1");
    await counted(1);
    rmSync(path);
    await eventually("it is lost", () => status() === "lost");
    expect(ground.session().watch.observability.reason).toBe(`${path} was there and is gone`);
  });
});

describe("a transcript that cannot be looked at", () => {
  const troubles = (): number =>
    home.logged.filter(({ message }) => message === "a transcript could not be read").length;

  test("is not lost, is told once, and is read when it can be", async () => {
    symlinkSync(path, path); // ELOOP: stat fails, also for root, and does not say that nothing is there
    await ground.readings.take(ground.session(), { source: "hook", detail: "Stop", turn: { phase: "completed" } });
    await whenAnotherIsLost();
    expect([status(), troubles()]).toEqual(["pending", 1]);
    writeFileSync(`${path}.new`, "cost 1\n");
    renameSync(`${path}.new`, path);
    await counted(1);
    expect(status()).toBe("observable");
  });

  test("though it was there before is not lost either", async () => {
    add("cost 1");
    await counted(1);
    linkSync(path, `${path}.kept`);
    symlinkSync(path, `${path}.loop`);
    renameSync(`${path}.loop`, path);
    await eventually("that was noticed", () => troubles() > 0);
    await whenAnotherIsLost();
    expect(status()).toBe("observable");
    appendFileSync(`${path}.kept`, "cost 10\n");
    renameSync(`${path}.kept`, path);
    await counted(11);
  });
});
