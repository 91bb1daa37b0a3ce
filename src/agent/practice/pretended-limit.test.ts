import { expect, test } from "vitest";
import { pretendedLimit } from "./pretended-limit.ts";
import { scriptOf } from "./turn-script.ts";

test("every prompt is refused until the reset, and the one that began it is answered after it", () => {
  const limit = pretendedLimit();
  const at = (now: number, prompt: string) => {
    const script = scriptOf(prompt);
    return script.type === "quit" ? null : limit.apply(prompt, script, now);
  };
  expect(at(1_000, "hello")).toMatchObject({ type: "reply" });
  const refusal = {
    type: "refusal",
    error: "The limit of tokens is reached, try again at 1970-01-01T00:00:21.000Z.",
    limit: { name: "tokens", usedPercent: 100, resetsAt: 21_000 },
  };
  expect(at(1_000, "limit 20s of tokens")).toEqual(refusal);
  expect(at(20_999, "hello")).toEqual(refusal);
  expect(at(21_000, "hello")).toMatchObject({ type: "reply" });
  expect(at(22_000, "limit 20s of tokens")).toMatchObject({ type: "reply" });
  expect(at(23_000, "limit 1s unsaid")).toMatchObject({
    error: "The limit of requests is reached.",
    limit: { resetsAt: null },
  });
});
