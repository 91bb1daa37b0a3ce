import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StoryPart } from "./entry.ts";
import { part } from "./story-fixture.ts";
import { tellStory } from "./tell-story.ts";

function order(
  log: readonly StoryPart[],
  transcript: readonly StoryPart[] = [],
  api: readonly StoryPart[] = [],
): string {
  return tellStory({ log, transcript, api })
    .map(({ source, seq }) => `${source[0]}${seq}`)
    .join(" ");
}

describe("the order of a story", () => {
  test("is that of time, and at the same moment the log comes first", () => {
    expect(
      order(
        [part("log", 1, 0, null), part("log", 2, 10, null)],
        [part("transcript", 1, 0, null), part("transcript", 2, 5, null)],
        [part("api", 1, 5, null), part("api", 2, 11, null)],
      ),
    ).toBe("l1 t1 t2 a1 l2 a2");
  });

  test("follows the monotonic clock where the wall clock was set back by an hour", () => {
    const log = [
      part("log", 1, 0, 100),
      part("log", 2, 10, 110),
      part("log", 3, 20 - 3_600, 120),
      part("log", 4, 30 - 3_600, 130),
    ];
    const api = [part("api", 1, 5, 105), part("api", 2, 15 - 3_600, 115), part("api", 3, 25 - 3_600, 125)];
    // The transcript has only the wall clock, which the lines near it tell.
    const transcript = [part("transcript", 1, 6, null), part("transcript", 2, 26 - 3_600, null)];
    expect(order(log, transcript, api)).toBe("l1 a1 t1 l2 a2 l3 a3 t2 l4");
  });

  test("follows it where the wall clock was set forward", () => {
    const log = [part("log", 1, 0, 100), part("log", 2, 3_610, 110), part("log", 3, 3_620, 120)];
    expect(order(log, [part("transcript", 1, 3_615, null)], [part("api", 1, 5, 105)])).toBe("l1 a1 l2 t1 l3");
  });

  test("goes on after a boot of the machine, when the monotonic clock begins again", () => {
    const log = [part("log", 1, 0, 5_000), part("log", 2, 100, 20), part("log", 3, 110, 30)];
    const api = [part("api", 1, 105, 25)];
    expect(order(log, [], api)).toBe("l1 l2 a1 l3");
  });

  test("keeps that of each source where nothing but the wall clock is known, and that was set back", () => {
    const log = [part("log", 1, 0, null), part("log", 2, 10, null), part("log", 3, -3_590, null)];
    const transcript = [part("transcript", 1, 5, null), part("transcript", 2, -3_585, null)];
    const told = order(log, transcript);
    expect(told.replaceAll(/t\d ?/g, "").trim()).toBe("l1 l2 l3");
    expect(told.replaceAll(/l\d ?/g, "").trim()).toBe("t1 t2");
    expect(told).toBe("l1 t1 l2 l3 t2");
  });

  test("never contradicts a source and loses nothing, whatever the clocks say", () => {
    const source = (name: "log" | "transcript" | "api") =>
      fc
        .array(fc.tuple(fc.integer({ min: -5_000, max: 5_000 }), fc.option(fc.nat(5_000), { nil: null })), {
          maxLength: 12,
        })
        .map((times) => times.map(([seconds, mono], index) => part(name, index + 1, seconds, mono)));
    fc.assert(
      fc.property(source("log"), source("transcript"), source("api"), (log, transcript, api) => {
        const told = tellStory({ log, transcript, api });
        for (const given of [log, transcript, api])
          expect(told.filter((entry) => entry.source === given[0]?.source).map(({ seq }) => seq)).toEqual(
            given.map(({ seq }) => seq),
          );
        expect(told).toEqual(tellStory({ log, transcript, api }));
      }),
      { numRuns: 300 },
    );
  });
});

describe("turns", () => {
  const log = [
    part("log", 1, 10, null, { type: "turn-started", kind: "turns", turn: 1 }),
    part("log", 2, 14, null, { type: "approval-requested", kind: "approvals", data: { approval: { id: "a" } } }),
    part("log", 3, 16, null, { type: "approval-settled", kind: "approvals", data: { approval_id: "a" } }),
    part("log", 4, 20, null, { type: "turn-completed", kind: "turns", turn: 1, what: "turn 1 completed" }),
  ];

  test("what happens between the beginning and the end is in it, and so is the prompt just before it", () => {
    const told = tellStory({
      log,
      transcript: [
        part("transcript", 1, 2, null, { actor: "user" }),
        part("transcript", 2, 9, null, { actor: "user" }),
        part("transcript", 3, 15, null, { actor: "agent" }),
        part("transcript", 4, 25, null, { actor: "agent" }),
      ],
      api: [part("api", 1, 12, null)],
    });
    expect(told.map(({ source, seq, turn }) => [`${source}${seq}`, turn])).toEqual([
      ["transcript1", null],
      ["transcript2", 1],
      ["log1", 1],
      ["api1", 1],
      ["log2", 1],
      ["transcript3", 1],
      ["log3", 1],
      ["log4", 1],
      ["transcript4", null],
    ]);
  });

  test("an answer that was written before anybody had read that the turn began is in it, not in the one before", () => {
    const quick = [
      part("log", 1, 10, null, { type: "turn-started", kind: "turns", turn: 1, what: "turn 1 began" }),
      part("log", 2, 11, null, { type: "turn-completed", kind: "turns", turn: 1, what: "turn 1 completed" }),
      part("log", 3, 13, null, { type: "turn-started", kind: "turns", turn: 2, what: "turn 2 began" }),
      part("log", 4, 14, null, { type: "turn-completed", kind: "turns", turn: 2, what: "turn 2 completed" }),
    ];
    const transcript = [
      part("transcript", 1, 8, null, { actor: "user" }),
      part("transcript", 2, 9, null, { actor: "agent" }),
      part("transcript", 3, 11.5, null, { actor: "agent" }),
      part("transcript", 4, 12, null, { actor: "user" }),
      part("transcript", 5, 12.5, null, { actor: "agent" }),
    ];
    const told = tellStory({ log: quick, transcript, api: [] });
    const said = told.filter(({ source }) => source === "transcript");
    expect(said.map(({ seq, turn }) => [seq, turn])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
      [5, 2],
    ]);
  });

  test("how long a turn took, and how long a question waited", () => {
    const told = tellStory({ log, transcript: [], api: [] });
    expect(told.map(({ type, ms }) => [type, ms])).toEqual([
      ["turn-started", null],
      ["approval-requested", null],
      ["approval-settled", 2_000],
      ["turn-completed", 10_000],
    ]);
    expect(told.at(-1)?.what).toBe("turn 1 completed after 10.0 s");
  });
});
