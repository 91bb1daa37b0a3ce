import { amend } from "./amend.ts";
import { describe, expect, test } from "vitest";
import type { Input } from "./input.ts";
import type { Reading, Usage, UsageReading } from "./reading.ts";
import { created, exitedWith, read, run, runningSession, types } from "./run-inputs.ts";
import { context, plannedSession } from "./session-fixture.ts";

const usage = (inputTokens: number, costUsd: number | null = null): Usage => ({
  inputTokens,
  cachedInputTokens: 1,
  outputTokens: 2,
  costUsd,
});
const cost = (kind: UsageReading["kind"], of: Usage): Input =>
  read({ source: "transcript", usage: { kind, usage: of } });
const cursor = { identity: "1:a", offset: 10, isInLongLine: false };
const lines = (...readings: readonly Partial<Reading>[]): Input => ({
  type: "read-transcript",
  incarnation: 1,
  readings: readings.map((reading) => ({ source: "transcript", detail: "a line", ...reading })),
  cursor,
});

describe("usage", () => {
  test("is added up, and replaced by what the agent says it all cost", () => {
    const sum = (...inputs: readonly Input[]) => run(runningSession(), ...inputs).session.conversation.usage;
    expect(sum()).toBeNull();
    expect(sum(cost("added", usage(5)))).toEqual(usage(5));
    expect(sum(cost("added", usage(5)), cost("added", usage(7)))).toEqual({
      inputTokens: 12,
      cachedInputTokens: 2,
      outputTokens: 4,
      costUsd: null,
    });
    expect(sum(cost("added", usage(5)), cost("total", usage(7)))).toEqual(usage(7));
    expect(sum(cost("added", usage(5, 0.5)), cost("added", usage(1)), cost("added", usage(1, 0.25)))?.costUsd).toBe(
      0.75,
    );
  });

  test("is no event, and no sign that somebody did something", () => {
    const before = runningSession({ conversation: { lastActivityAt: 1 } });
    const { session, events } = run(before, cost("added", usage(5)));
    expect([events, session.conversation.lastActivityAt, session.revision]).toEqual([[], 1, before.revision + 1]);
  });
});

describe("the transcript", () => {
  test("observable, lost and back again are events with the reason; the same again is none", () => {
    const seen = read({ source: "transcript", detail: "/t is there", transcript: "observable", transcriptPath: "/t" });
    const { session, events } = run(
      runningSession(),
      seen,
      seen,
      read({ source: "transcript", detail: "/t is gone", transcript: "lost" }),
    );
    expect(types(events)).toEqual(["observability-changed", "observability-changed"]);
    expect(session.watch.observability).toEqual({
      status: "lost",
      expected: false,
      reason: "/t is gone",
      transcriptPath: "/t",
    });
    expect(run(session, seen).session.watch.observability).toMatchObject({ status: "observable", expected: true });
  });

  test("elsewhere is read from its beginning", () => {
    const before = runningSession({ watch: { transcriptCursor: cursor } });
    const moved = run(before, read({ transcriptPath: "/other" }));
    expect(moved.session).toMatchObject({
      watch: { transcriptCursor: null, observability: { transcriptPath: "/other" } },
    });
    expect(
      run(amend(moved.session, { watch: { transcriptCursor: cursor } }), read({ transcriptPath: "/other" })).session
        .watch.transcriptCursor,
    ).toEqual(cursor);
  });

  test("lines count in their order, in one step with how far it was read", () => {
    const { session, events } = run(
      runningSession(),
      lines(
        { turn: { phase: "started", id: "a" } },
        { usage: { kind: "added", usage: usage(5) } },
        { turn: { phase: "completed", id: "a" }, activity: "idle" },
      ),
    );
    expect(types(events)).toEqual(["turn-started", "activity-changed", "turn-completed", "activity-changed"]);
    expect(session).toMatchObject({
      conversation: { turns: 1, turnOpen: false, usage: usage(5) },
      watch: { transcriptCursor: cursor },
      revision: 3,
    });
  });

  test("lines that say nothing still move the cursor", () => {
    expect(run(runningSession(), lines())).toMatchObject({
      session: { watch: { transcriptCursor: cursor } },
      events: [],
    });
  });
});

describe("activity", () => {
  test("changes once, with its evidence; what happened is when", () => {
    const { session, events } = run(
      runningSession(),
      read({ activity: "working" }),
      read({ activity: "working", detail: "again" }),
    );
    expect(types(events)).toEqual(["activity-changed"]);
    expect(session.conversation.activity.evidence).toEqual({ source: "hook", detail: "a hook", at: context.now });
    expect(session.conversation.lastActivityAt).toBe(context.now);
  });

  test("of the dead stays unknown, whatever was still in the spool", () => {
    const dead = run(runningSession(), exitedWith(0)).session;
    expect(run(dead, read({ activity: "working" }))).toEqual({ session: dead, events: [] });
    expect(run(dead, read({ nativeId: "n" })).session.conversation.nativeId).toBe("n");
  });
});

describe("the plan of an incarnation", () => {
  const plan = (transcriptPath: string | null): Input => ({
    type: "planned",
    incarnation: 1,
    plan: {
      watch: {
        mode: "app-server",
        text: "Its protocol tells.",
        version: "1.2",
        socket: "/s",
        statusDir: null,
        capture: null,
      },
      nativeId: "n",
      transcriptPath,
      observabilityReason: "not before the first prompt",
    },
    passHash: "hash",
  });

  test("says how it is watched", () => {
    expect(run(plannedSession(), plan("/t")).session).toMatchObject({
      watch: {
        mode: "app-server",
        socket: "/s",
        observability: {
          status: "pending",
          expected: true,
          reason: "not before the first prompt",
          transcriptPath: "/t",
        },
      },
      conversation: { nativeId: "n" },
    });
  });

  test("keeps a transcript that is known, up to where it was read", () => {
    const observability = { status: "observable", expected: true, reason: "there", transcriptPath: "/t" } as const;
    const resumed = plannedSession({ watch: { observability, transcriptCursor: cursor } });
    for (const path of ["/t", null])
      expect(run(resumed, plan(path)).session).toMatchObject({ watch: { observability, transcriptCursor: cursor } });
    expect(run(resumed, plan("/other")).session).toMatchObject({
      watch: { observability: { status: "pending", transcriptPath: "/other" }, transcriptCursor: null },
    });
  });

  test("comes too late once the process is there", () => {
    const running = run(plannedSession(), created).session;
    expect(run(running, plan("/t"))).toEqual({ session: running, events: [] });
  });
});
