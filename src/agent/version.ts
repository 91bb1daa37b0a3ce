/** Versions as programs print them: `1.2.3`, compared by their numbers; what follows a dash is ignored. */

export function compareVersions(one: string, other: string): number {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Comparisons that must all hold, separated by spaces: `>=0.160 <1`. Throws if one of them is none. */
export function isInRange(version: string, range: string): boolean {
  const parts = range.split(/\s+/).filter((part) => part !== "");
  return parts.map((part) => holds(version, part)).every(Boolean);
}

function holds(version: string, part: string): boolean {
  const match = /^(>=|<=|>|<|=)?(\d+(?:\.\d+)*)$/.exec(part);
  if (match?.[2] === undefined) throw new Error(`"${part}" is not a comparison such as >=1.2`);
  const difference = compareVersions(version, match[2]);
  switch (match[1]) {
    case ">=":
      return difference >= 0;
    case "<=":
      return difference <= 0;
    case ">":
      return difference > 0;
    case "<":
      return difference < 0;
    default:
      return difference === 0;
  }
}

function numbersOf(version: string): number[] {
  return (version.split("-")[0] ?? "").split(".").map(Number);
}
