/** What a correction does to what somebody who waits knows. */
import { describe, expect, test } from "vitest";
import type { Course } from "./course.ts";
import { emptyCourse, follow } from "./course.ts";
import type { SessionEvent } from "./event.ts";
import { evidence } from "./session-fixture.ts";
import type { Verdict } from "./session.ts";

const started = (turn: number): SessionEvent => ({ type: "turn-started", turn, evidence });
const completed = (turn: number): SessionEvent => ({ type: "turn-completed", turn, evidence });
const interrupted = (turn: number): SessionEvent => ({ type: "turn-interrupted", turn, evidence });
const corrected = (turn: number, verdict: Verdict, was: Verdict = "interrupted"): SessionEvent => ({
  type: "turn-corrected",
  turn,
  verdict,
  error: verdict === "failed" ? "429" : null,
  was,
  wasSource: "screen",
  evidence,
});

/** Of a log whose next event is number `from`. */
function courseOf(from: number, ...events: readonly SessionEvent[]): Course {
  const course = emptyCourse(from - 1);
  for (const [index, body] of events.entries())
    follow(course, { seq: from + index, at: 0, sessionId: "abc", caller: null, body });
  return course;
}

describe("a correction", () => {
  test("takes the place of what had been told: nobody is woken by the guess any more", () => {
    const course = courseOf(1, started(1), interrupted(1), corrected(1, "completed"));
    expect(course).toEqual({
      seq: 3,
      wakes: [{ reason: "turn-completed", seq: 3 }],
      turnEnds: [{ reason: "turn-completed", seq: 3, turn: 1 }],
      turnStarts: [{ turn: 1, seq: 1 }],
      turnOf: new Map(),
      newestAsk: null,
      lastAsksFrom: null,
    });
  });

  test("of a turn that ended before the reader's cursor is an end by itself", () => {
    const course = courseOf(7, corrected(1, "completed"));
    expect(course.wakes).toEqual([{ reason: "turn-completed", seq: 7 }]);
    expect(course.turnEnds).toEqual([{ reason: "turn-completed", seq: 7, turn: 1 }]);
  });

  test("of such a turn stands before the ends of later turns, and wakes after them", () => {
    const course = courseOf(7, completed(2), interrupted(3), corrected(1, "failed"));
    expect(course.turnEnds).toEqual([
      { reason: "turn-failed", seq: 9, turn: 1 },
      { reason: "turn-completed", seq: 7, turn: 2 },
      { reason: "turn-interrupted", seq: 8, turn: 3 },
    ]);
    expect(course.wakes).toEqual([
      { reason: "turn-completed", seq: 7 },
      { reason: "turn-interrupted", seq: 8 },
      { reason: "turn-failed", seq: 9 },
    ]);
  });

  test("that comes after later turns changes its own turn only", () => {
    const course = courseOf(1, completed(1), interrupted(2), completed(3), corrected(2, "completed"));
    expect(course.turnEnds).toEqual([
      { reason: "turn-completed", seq: 1, turn: 1 },
      { reason: "turn-completed", seq: 4, turn: 2 },
      { reason: "turn-completed", seq: 3, turn: 3 },
    ]);
    expect(course.wakes.map(({ seq }) => seq)).toEqual([1, 3, 4]);
  });

  test("leaves what else woke in that turn", () => {
    const stalled: SessionEvent = { type: "session-stalled", turn: 1, evidence };
    const course = courseOf(1, stalled, interrupted(1), corrected(1, "completed"));
    expect(course.wakes).toEqual([
      { reason: "stalled", seq: 1 },
      { reason: "turn-completed", seq: 3 },
    ]);
  });

  test("may be corrected itself: the last one stands, alone", () => {
    const twice = [corrected(1, "completed"), corrected(1, "failed", "completed")];
    for (const course of [courseOf(1, interrupted(1), ...twice), courseOf(2, ...twice)]) {
      expect(course.turnEnds).toEqual([{ reason: "turn-failed", seq: 3, turn: 1 }]);
      expect(course.wakes).toEqual([{ reason: "turn-failed", seq: 3 }]);
    }
  });
});
