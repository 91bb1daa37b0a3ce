import { expect, it } from "vitest";
import { didYouMean } from "./suggestion.ts";

it("suggests only what is near", () => {
  expect(didYouMean("--timout", ["--timeout", "--since"])).toBe("did you mean --timeout?");
  expect(didYouMean("--xyz", ["--timeout", "--since"])).toBeNull();
});
