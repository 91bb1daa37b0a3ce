/**
 * The ways to reach Reeve. Whoever calls names its own in a header. That is a
 * label for the record, which anybody may claim: it never decides what a
 * caller may do.
 */
export const SURFACES = ["cli", "board", "mcp", "http"] as const;
export type Surface = (typeof SURFACES)[number];

export const SURFACE_HEADER = "reeve-surface";

/** Whoever does not say, or says something else, is some program that speaks HTTP. */
export function surfaceNamed(value: unknown): Surface {
  return SURFACES.find((surface) => surface === value) ?? "http";
}
