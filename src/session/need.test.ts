import { describe, expect, it } from "vitest";
import { headlineOf, needOf, needSince } from "./need.ts";
import { byNeed, summaryOf } from "./need-order.ts";
import { amend, type Amendment } from "./amend.ts";
import { evidence, plannedSession } from "./session-fixture.ts";
import { NO_RESTARTS } from "./restart-record.ts";
import type { Session } from "./session.ts";

const lastTurn: NonNullable<Session["conversation"]["lastTurn"]> = {
  startedAt: 1,
  id: null,
  verdict: "completed",
  error: null,
  failure: null,
  verdictSource: "hook",
  isEnding: false,
  stops: 0,
  prolonged: 0,
  earlier: [],
  inferred: [],
};
const running = (fields: Amendment = {}): Session =>
  amend(
    plannedSession({
      state: "running",
      process: { liveness: { status: "running", evidence } },
      conversation: { activity: { status: "idle", asks: null, evidence }, lastTurn },
    }),
    fields,
  );
const unseen = { newsRevision: 4 };
const exit = { code: 1, signal: null, at: 9_000 };
const dead = (fields: Amendment = {}): Session =>
  amend(
    running({
      state: "error",
      process: { exit, liveness: { status: "exited", evidence } },
      conversation: { turnOpen: false },
    }),
    fields,
  );
const due = { ...NO_RESTARTS, dueAt: 10_000 };
const asking = (status: "awaiting-approval" | "awaiting-input", asks: string | null): Session =>
  running({ conversation: { activity: { status, asks, evidence: { ...evidence, at: 7_000 } } } });

describe("needOf", () => {
  it.each([
    ["asks for approval", asking("awaiting-approval", "Run: rm"), "blocked"],
    ["asks for something else", asking("awaiting-input", "Trust this folder?"), "blocked"],
    ["has stalled", running({ conversation: { turnOpen: true, stalledAt: 5 } }), "blocked"],
    ["has crashed", dead(), "failed"],
    ["has crashed, and is started again by its policy", dead({ process: { restart: due } }), "working"],
    ["has crashed and was seen", dead({ notice: { ...unseen, seenRevision: 4 } }), "failed"],
    [
      "has a failed turn",
      running({ conversation: { lastTurn: { ...lastTurn, verdict: "failed" } }, notice: unseen }),
      "failed",
    ],
    [
      "was started again after a crash in a turn",
      running({ conversation: { lastTurn: { ...lastTurn, verdict: null } }, notice: unseen }),
      "failed",
    ],
    [
      "has a failed turn that was seen",
      running({ conversation: { lastTurn: { ...lastTurn, verdict: "failed" } } }),
      "idle",
    ],
    ["has finished its turn", running({ notice: unseen }), "finished"],
    [
      "has finished its program",
      dead({ state: "stopped", process: { exit: { ...exit, code: 0 } }, notice: unseen }),
      "finished",
    ],
    ["has finished, and was seen", running({ notice: { ...unseen, seenRevision: 4 } }), "idle"],
    ["cannot be reached", running({ process: { liveness: { status: "unreachable", evidence } } }), "unreachable"],
    [
      "works",
      running({ conversation: { turnOpen: true, activity: { status: "working", asks: null, evidence } } }),
      "working",
    ],
    ["starts", plannedSession(), "working"],
    [
      "says nothing of what it does",
      running({ conversation: { activity: { status: "unknown", asks: null, evidence } } }),
      "working",
    ],
    ["is paused", running({ state: "paused", wish: { desired: "paused" } }), "paused"],
    ["was ended", dead({ state: "stopped", wish: { desired: "stopped" }, notice: unseen }), "stopped"],
  ])("of one that %s", (_what, session, need) => {
    expect(needOf(session)).toBe(need);
  });

  it("says since when", () => {
    expect(needSince(asking("awaiting-input", null))).toBe(7_000);
    expect(needSince(dead())).toBe(9_000);
  });
});

describe("headlineOf", () => {
  const said = { said: "All tests pass.", lastLine: "Error: no such file" };
  const evidenceReason = { code: "failed", text: "", evidence };
  const killed = (code: number | null): Session =>
    dead({
      notice: said,
      process: { exit: { code, signal: "SIGKILL", at: 1 } },
      reason: { code: "killed", text: "Its process was killed by SIGKILL.", evidence },
    });
  it.each([
    ["the exact question", asking("awaiting-approval", "Run: rm -r build"), "Run: rm -r build"],
    ["the last sentence of the answer", running({ notice: said }), "All tests pass."],
    [
      "the error of a turn",
      running({ conversation: { lastTurn: { ...lastTurn, verdict: "failed", error: "429" } } }),
      "Its turn failed: 429",
    ],
    ["what it died of", dead({ notice: said }), "Error: no such file (exit status 1)"],
    ["not what a kill left on the screen", killed(null), "Its process was killed by SIGKILL."],
    ["nor if a shell made a status of the signal", killed(137), "Its process was killed by SIGKILL."],
    [
      "the last output of a program",
      dead({ notice: said, process: { exit: { ...exit, code: 0 } }, identity: { hasTurns: false } }),
      said.lastLine,
    ],
    [
      "what Reeve does about it",
      dead({ notice: said, process: { restart: due }, reason: { ...evidenceReason, text: "Starting again in 4 s." } }),
      "Starting again in 4 s.",
    ],
    [
      "that Reeve has given up",
      dead({ notice: said, reason: { ...evidenceReason, code: "restarts-exhausted", text: "Not started again." } }),
      "Not started again.",
    ],
    [
      "that nobody saw the end of a turn, such as one that a crash cut off",
      running({ conversation: { lastTurn: { ...lastTurn, verdict: null } } }),
      "Its last turn was cut off when its process ended; tell it to go on.",
    ],
    ["nothing, rather than a process number", running(), ""],
  ])("is %s", (_what, session, headline) => {
    expect(headlineOf(session)).toBe(headline);
  });
});

describe("a list by need", () => {
  const row = (need: "blocked" | "failed" | "working" | "idle", at: string) => ({ need, need_since: at });
  const rows = [row("idle", "1"), row("working", "9"), row("working", "2"), row("blocked", "8"), row("blocked", "3")];

  it("begins with whoever has waited longest, and leaves the order of those who do not wait", () => {
    expect(rows.toSorted(byNeed)).toEqual([
      row("blocked", "3"),
      row("blocked", "8"),
      row("working", "9"),
      row("working", "2"),
      row("idle", "1"),
    ]);
  });

  it("is summed up in one line", () => {
    expect(summaryOf([...rows, row("failed", "1")])).toBe("2 need you · 1 failed · 2 working · 1 idle");
    expect(summaryOf([row("blocked", "1")])).toBe("1 needs you");
    expect(summaryOf([])).toBe("");
  });
});

describe("needOf of one whose account is parked", () => {
  const hung = { verdict: "hung", evidence } as const;
  const starting = { status: "starting", asks: null, evidence } as const;
  it.each([
    ["rests with something to do", running(), "parked"],
    ["works", running({ conversation: { turnOpen: true } }), "working"],
    ["is silent in its turn", running({ conversation: { turnOpen: true, stalledAt: 5 } }), "blocked"],
    [
      "hangs as it comes up",
      running({ process: { place: {}, pulse: hung }, conversation: { activity: starting } }),
      "blocked",
    ],
    ["takes nothing because of its branch", running({ checkout: { mismatchAt: 3, policy: "error" } }), "blocked"],
    ["is on another branch, and may be", running({ checkout: { mismatchAt: 3 } }), "parked"],
  ])("%s", (_, session, need) => {
    expect(needOf(session, true)).toBe(need);
  });
});
