/**
 * The two floors of tests. The gate is what everybody runs before a change lands; the deep floor, `*.deep.test.ts`,
 * takes long or looks for rare things. CONTRIBUTING.md says where a test belongs.
 */
export type Floor = "gate" | "deep" | "all";

export const DEEP = "**/*.deep.test.ts";

export function parseFloor(text: string | undefined): Floor {
  if (text === undefined || text === "all") return "all";
  if (text === "gate" || text === "deep") return text;
  throw new Error(`${text} is no floor of the tests: use gate, deep or all`);
}

/** Of these patterns, those of the floor; `exclude` leaves the other floor out. */
export function filesOf(floor: Floor, include: readonly string[]): { include: string[]; exclude: string[] } {
  return {
    include:
      floor === "deep" ? include.map((pattern) => pattern.replace(/\*\.test\.ts$/, "*.deep.test.ts")) : [...include],
    exclude: floor === "gate" ? [DEEP] : [],
  };
}
