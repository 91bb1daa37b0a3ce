/** What looks at processes may conclude, and when. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  afterLook,
  beginExamination,
  type Examination,
  findingOf,
  forgetLooks,
  seenIn,
  signsOf,
} from "./examination.ts";
import type { Bounds, Look } from "./examination.ts";
import type { ProcessVitals } from "./process-vitals.ts";

const INTERVAL_MS = 5_000;
const WORKING: Bounds = { isWorking: true, wasHung: false, slowAfterMs: 120_000 };

function one(id: string, changes: Partial<ProcessVitals> = {}): ProcessVitals {
  return { id, text: `process ${id}`, state: "able", isForeground: true, cpuMs: 0, endedCpuMs: 0, ...changes };
}

/** Looks, an interval apart, each with what is different from an agent that waits for its model. */
function afterLooks(looks: readonly Partial<Look>[], begun = beginExamination(0)): Examination {
  return looks.reduce((examination, changes, index) => {
    const at = begun.since + (index + 1) * INTERVAL_MS;
    const quiet = { at, processes: [one("7")], heardAt: null, drewAt: null, unansweredSince: null };
    return afterLook(examination, { ...quiet, ...changes });
  }, begun);
}

const verdictAfter = (looks: readonly Partial<Look>[], bounds: Partial<Bounds> = {}): string =>
  findingOf(afterLooks(looks), { ...WORKING, ...bounds }).verdict;
const repeated = (count: number, look: (index: number) => Partial<Look>): readonly Partial<Look>[] =>
  Array.from({ length: count }, (_, index) => look(index));

const stopped = { processes: [one("7", { state: "stopped" })] };
const quiet = {};

describe("hung", () => {
  test.each<[string, readonly Partial<Look>[], string]>([
    ["no look yet", [], "healthy"],
    ["one look at a stopped agent", [stopped], "healthy"],
    ["two in a row", [stopped, stopped], "hung"],
    ["one, then it runs", [stopped, quiet, stopped], "healthy"],
    ["it goes on", [stopped, stopped, quiet], "healthy"],
    [
      "a stopped process that does not have the terminal",
      repeated(9, () => ({ processes: [one("7"), one("8", { state: "stopped", isForeground: false })] })),
      "healthy",
    ],
    ["inside the kernel for half a minute", repeated(6, () => stuck(0)), "healthy"],
    ["inside the kernel for more than a minute", repeated(15, () => stuck(0)), "hung"],
    ["in and out of the kernel", repeated(15, (index) => (index % 5 === 4 ? quiet : stuck(0))), "healthy"],
    ["inside the kernel, but it uses the processor", repeated(15, (index) => stuck(index * 500)), "healthy"],
    ["a protocol that is late", repeated(3, () => ({ unansweredSince: 1 })), "healthy"],
    ["a protocol that does not answer", repeated(8, () => ({ unansweredSince: 1 })), "hung"],
    ["a model that never answers: its agent waits for it, and could run", repeated(500, () => quiet), "healthy"],
    ["nothing of it is there any more", repeated(5, () => ({ processes: [] })), "healthy"],
  ])("%s", (_, looks, verdict) => {
    expect(verdictAfter(looks)).toBe(verdict);
  });

  test("says which process, and that Reeve did not stop it", () => {
    const two = { processes: [one("7", { state: "stopped" }), one("8", { state: "stopped" })] };
    expect(findingOf(afterLooks([stopped, stopped]), WORKING).detail).toBe("process 7 is stopped, and not by Reeve");
    expect(findingOf(afterLooks([two, two]), WORKING).detail).toBe(
      "process 7 and 1 more are stopped, and not by Reeve",
    );
  });

  test("stays hung over a gap as long as the cause is there, and no longer", () => {
    const forgotten = forgetLooks(afterLooks([stopped, stopped]), 100_000);
    expect(findingOf(afterLooks([stopped], forgotten), { ...WORKING, wasHung: true }).verdict).toBe("hung");
    expect(findingOf(afterLooks([quiet], forgotten), { ...WORKING, wasHung: true }).verdict).toBe("healthy");
  });
});

describe("slow", () => {
  /** A tool that began after the first look and compiles. */
  const compiling = (index: number): Partial<Look> => ({
    processes: [one("7"), ...(index === 0 ? [] : [one("8", { isForeground: false, cpuMs: index * 2_000 })])],
  });
  /** A spinner: the agent draws, and uses a tenth of a core for it. */
  const spinning = (index: number): Partial<Look> => ({
    processes: [one("7", { cpuMs: index * 500 })],
    drewAt: (index + 1) * INTERVAL_MS,
  });

  test.each<[string, readonly Partial<Look>[], Partial<Bounds>, string]>([
    ["two minutes of silence and a compiler", repeated(24, compiling), {}, "slow"],
    ["less than that", repeated(23, compiling), {}, "healthy"],
    [
      "it was heard meanwhile",
      repeated(24, (index) => ({ ...compiling(index), heardAt: index * 5_000 })),
      {},
      "healthy",
    ],
    ["nothing moves", repeated(100, () => quiet), {}, "healthy"],
    ["a spinner", repeated(24, spinning), {}, "slow"],
    ["it asks something", repeated(24, spinning), { isWorking: false }, "healthy"],
  ])("%s", (_, looks, bounds, verdict) => {
    expect(verdictAfter(looks, bounds)).toBe(verdict);
  });

  test("what a turn runs counts as work, a spinner and what was there before do not", () => {
    expect(afterLooks(repeated(5, compiling)).workedAt).toBe(25_000);
    expect(afterLooks(repeated(5, spinning)).workedAt).toBe(null);
    // Compilers that come and go leave their time with the one that waited for them.
    const ended = repeated(5, (index) => ({ processes: [one("7", { endedCpuMs: index * 1_000 })] }));
    expect(afterLooks(ended).workedAt).toBe(25_000);
    // One that began before the first look, without the terminal; and a server that an earlier turn left.
    const early = repeated(5, (index) => ({
      processes: [one("7"), one("8", { isForeground: false, cpuMs: index * 1_000 })],
    }));
    expect(afterLooks(early).workedAt).toBe(25_000);
    expect(afterLooks(early, beginExamination(0, seenIn(afterLooks(early)))).workedAt).toBe(null);
    const watcher = repeated(5, (index) => ({ processes: [one("7"), one("9", { cpuMs: index * 50 })] }));
    expect(afterLooks(watcher).workedAt).toBe(null);
  });

  test("what was seen is told in sentences", () => {
    const look = { processes: [one("7", { cpuMs: 1_500 })], heardAt: 4_000, drewAt: null, unansweredSince: 9_000 };
    const busy = { ...look, processes: [one("7", { cpuMs: 2_000 }), one("8", { cpuMs: 300 })] };
    expect(signsOf(afterLooks([look, busy]), 11_000)).toEqual([
      "2 processes, 1 of them started in this turn; processor time 2.3 s, 0.8 s of it in the last 5 s.",
      "It was heard (protocol, hooks, transcript, status file): 7 s ago.",
      "Its terminal changed: not seen yet.",
      "What its turn runs used the processor: 1 s ago.",
      "Its protocol has not answered for 2 s.",
    ]);
    expect(signsOf(beginExamination(0), 5)).toEqual([]);
  });
});

/** Whatever happens to it, in any order. */
const anyStep = fc.oneof(
  fc.constant("gap" as const),
  fc.record({
    afterMs: fc.integer({ min: 1, max: 200_000 }),
    state: fc.constantFrom("able" as const, "stuck" as const, "stopped" as const),
    isForeground: fc.boolean(),
    cpuMs: fc.integer({ min: 0, max: 5_000 }),
    unansweredMs: fc.option(fc.integer({ min: 0, max: 300_000 }), { nil: null }),
    isWorking: fc.boolean(),
  }),
);

test("nothing worse than slow without two misses in a row, and none of them from before a gap", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      let [now, cpuMs, looksSinceGap, verdict] = [0, 0, 0, "healthy"];
      let examination = beginExamination(0);
      for (const step of steps) {
        if (step === "gap") {
          examination = forgetLooks(examination, now);
          looksSinceGap = 0;
          continue;
        }
        now += step.afterMs;
        cpuMs += step.cpuMs;
        looksSinceGap += 1;
        const before = examination;
        examination = afterLook(examination, {
          at: now,
          processes: [one("7", { state: step.state, isForeground: step.isForeground, cpuMs })],
          heardAt: null,
          drewAt: null,
          unansweredSince: step.unansweredMs === null ? null : now - step.unansweredMs,
        });
        verdict = findingOf(examination, { ...WORKING, isWorking: step.isWorking }).verdict;
        if (verdict !== "hung") continue;
        expect(looksSinceGap).toBeGreaterThanOrEqual(2);
        expect([before.complaint, examination.complaint]).not.toContain(null);
      }
    }),
  );
});

function stuck(cpuMs: number): Partial<Look> {
  return { processes: [one("7", { state: "stuck", cpuMs })] };
}
