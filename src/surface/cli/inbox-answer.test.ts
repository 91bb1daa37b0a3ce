import { describe, expect, test } from "vitest";
import { answerOf, keysFor } from "./inbox-answer.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");

describe("an answer as people write it", () => {
  test.each([
    [["approve"], { answer: "approve" }],
    [["ACK"], { answer: "acknowledge" }],
    [["seen"], { answer: "acknowledge" }],
    [["reply", "use", "the other one"], { answer: "reply", text: "use the other one" }],
    [["snooze", "30m"], { answer: "snooze", for_seconds: 1_800 }],
    [["snooze", "2", "h"], { answer: "snooze", for_seconds: 7_200 }],
    [["snooze", "2026-11-18T09:00Z"], { answer: "snooze", until: "2026-11-18T09:00:00.000Z" }],
  ])("%j", (words, meant) => {
    expect(answerOf(words, NOW)).toEqual(meant);
  });

  test.each([
    [["a"], "unknown-answer"],
    [[], "unknown-answer"],
    [["snooze"], "bad-time"],
    [["snooze", "-5m"], "bad-time"],
    [["snooze", "tomorrow"], "bad-time"],
    [["snooze", "2026-11-17T11:00Z"], "time-passed"],
  ])("%j is refused", (words, code) => {
    expect(() => answerOf(words, NOW)).toThrow(expect.objectContaining({ code }) as Error);
  });

  test("single keys count where they were offered, and nothing that ends something has one", () => {
    expect(answerOf(["z", "1d"], NOW, true)).toEqual({ answer: "snooze", for_seconds: 86_400 });
    expect(() => answerOf(["e"], NOW, true)).toThrow(expect.objectContaining({ code: "unknown-answer" }) as Error);
    expect(keysFor(["approve", "deny", "end", "reply", "acknowledge", "snooze"])).toBe(
      "a (approve), d (deny), end, r TEXT (reply), k (ack), z 30m (snooze)",
    );
  });
});
