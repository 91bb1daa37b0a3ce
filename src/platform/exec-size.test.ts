import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { requireExecutableSize } from "./exec-size.ts";
import { ReeveError } from "./reeve-error.ts";

const messageFor = (argv: readonly string[], environment: Readonly<Record<string, string>> = {}): string | null => {
  try {
    requireExecutableSize({ argv, environment });
    return null;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== "start-too-large") throw error;
    return error.message;
  }
};
const variables = (count: number, bytes: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, "x".repeat(bytes)]));
/** Bytes count, not characters. */
const longest = `${"é".repeat(65_535)}x`;

describe("what a program can be started with", () => {
  it("is what the kernel takes: one string of 128 KiB with its end, and no longer", () => {
    expect(messageFor(["true", longest])).toBe(null);
    expect(spawnSync("true", [longest]).error).toBe(undefined);
    expect(spawnSync("true", [`${longest}x`]).error).toMatchObject({ code: "E2BIG" });
    expect(messageFor(["true", `${longest}x`])).toContain("Argument 1 of its command is 131,072 bytes long");
    expect(messageFor(["true"], { BIG: longest })).toContain("The variable BIG is");
  });

  it("is 1.8 MB of arguments together, as the kernel takes them, and not 4.5 MB", () => {
    const argv = Array.from({ length: 900 }, () => "x".repeat(2_000));
    expect(messageFor(["true", ...argv])).toBe(null);
    expect(spawnSync("true", argv, { env: {} }).error).toBe(undefined);
    expect(messageFor(Array.from({ length: 900 }, () => "x".repeat(5_000)))).toContain("4,508,100 bytes together");
    expect(messageFor(["true", ...argv], variables(10, 50_000))).toContain("Its arguments and environment have");
  });

  it("is an environment of any size that is met, and not 50,000 variables", () => {
    expect(messageFor(["true"], variables(300, 500))).toBe(null);
    expect(messageFor(["true"], variables(2_000, 50))).toBe(null);
    expect(messageFor(["true"], variables(15, 120_000))).toBe(null);
    expect(messageFor(["true"], variables(50_000, 1))).toContain("Its environment has 50,000 variables");
    expect(messageFor(["true"], variables(1_000, 1_800))).toContain("so many may have 300,000 bytes");
  });
});
