import { expect, it } from "vitest";
import { nearestWord } from "./nearest-word.ts";

it("is the one with the fewest letters between, or the one that it begins", () => {
  expect(nearestWord("enviroment", ["environment", "env", "env_file"])).toBe("environment");
  expect(nearestWord("time", ["text", "timeout_seconds"])).toBe("timeout_seconds");
  expect(nearestWord("sine", ["since", "limit"])).toBe("since");
});

it("is none where nothing is near, also for a word that is too long to be one", () => {
  expect(nearestWord("colour", ["since", "limit", "session"])).toBeNull();
  expect(nearestWord("x".repeat(1_000_000), ["x".repeat(1_000_000)])).toBeNull();
});
