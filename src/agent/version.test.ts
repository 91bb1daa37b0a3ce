import { describe, expect, test } from "vitest";
import { compareVersions, isInRange } from "./version.ts";

describe("versions", () => {
  test.each([
    ["1.2.3", "1.2.3", 0],
    ["1.2", "1.2.0", 0],
    ["1.10.0", "1.9.9", 1],
    ["0.160.0", "0.161", -1],
    ["2", "1.99.99", 1],
    ["1.2.3-beta.4", "1.2.3", 0],
    ["2.1.325", "2.1.99", 1],
  ])("%s against %s", (one, other, sign) => {
    expect(Math.sign(compareVersions(one, other))).toBe(sign);
    expect(Math.sign(compareVersions(other, one))).toBe(sign === 0 ? 0 : -sign);
  });
});

describe("ranges", () => {
  test.each([
    ["0.166.0", ">=0.160 <1", true],
    ["0.159.9", ">=0.160 <1", false],
    ["1.0.0", ">=0.160 <1", false],
    ["1.2.3", "1.2.3", true],
    ["1.2.3", "=1.2", false],
    ["1.2", "<=1.2.0  >1.1", true],
    ["1.2", ">1.2", false],
    ["7", "", true],
  ])("%s in %j: %s", (version, range, isIn) => {
    expect(isInRange(version, range)).toBe(isIn);
  });

  test.each(["~1.2", ">=1.x", ">=", ">= 1", "1 || 2", ">=5 nonsense", "nonsense"])(
    "%j is refused, whatever the version: a range is checked when it is read",
    (range) => {
      for (const version of ["0", "9"]) expect(() => isInRange(version, range)).toThrow(/is not a comparison such as/);
    },
  );
});
