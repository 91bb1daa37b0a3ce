import { describe, expect, it } from "vitest";
import { directoryName, placeOf } from "./worktree-place.ts";

describe("the place of a worktree", () => {
  const at = (branch: string, setting: string | null = null): string =>
    placeOf({ main: "/home/me/shop", repository: "/home/me/shop/.git", branch, setting });

  it("is beside the repository, or where the settings say", () => {
    expect(at("fix")).toBe("/home/me/shop.worktrees/fix");
    expect(at("feature/cart")).toBe("/home/me/shop.worktrees/feature+cart");
    expect(at("fix", "../trees")).toBe("/home/me/trees/fix");
    expect(at("fix", "/data")).toMatch(/^\/data\/shop-[0-9a-f]{8}\/fix$/);
  });

  it("is another for every branch, and one that no shell or file system trips over", () => {
    const branches = [
      "a/b",
      "a+b",
      "a-b",
      "a/b/c",
      "a/b+c",
      "a+b/c",
      "ä",
      "a b",
      "-a",
      ".a",
      "a%b",
      "x".repeat(300),
      "x".repeat(301),
    ];
    const names = branches.map(directoryName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,100}$/);
  });
});
