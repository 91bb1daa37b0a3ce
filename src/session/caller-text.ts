import type { Surface } from "../platform/surface.ts";

/** Who asked, in words: `session:abc` is how programs read it. */
export function callerText(caller: string): string {
  if (caller === "operator") return "the operator";
  if (caller === "system") return "Reeve itself";
  return caller.replace(/^session:/, "session ");
}

const SURFACE_TEXTS: Readonly<Record<Surface, string>> = {
  cli: "on the command line",
  board: "on the board",
  mcp: "over MCP",
  http: "over HTTP",
};

/** How it was asked, in words; one that this version does not know is named. */
export function surfaceText(surface: string): string {
  return Object.hasOwn(SURFACE_TEXTS, surface) ? SURFACE_TEXTS[surface as Surface] : `by way of ${surface}`;
}
