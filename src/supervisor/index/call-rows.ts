/** Calls to the model, from the `end` lines of session_oai_raw.log (docs/spec/session-directory.md). Pure. */
import type { CallRow } from "../../search/contract.ts";

export const RAW_LOG = "session_oai_raw.log";

export function callRowOf(sessionId: string, line: string): CallRow | null {
  // Most lines are long and tell of something else: they are not parsed.
  if (!/"kind":\s?"end"/.test(line)) return null;
  let end: unknown;
  try {
    end = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof end !== "object" || end === null || !("kind" in end) || end.kind !== "end") return null;
  const { at, outcome, status, latency_ms: latency } = end as Readonly<Record<string, unknown>>;
  const time = typeof at === "string" ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time)) return null;
  return {
    sessionId,
    at: time,
    latencyMs: typeof latency === "number" && Number.isFinite(latency) ? latency : null,
    isError: isError(outcome, status),
  };
}

/** An agent that left has had enough, which is no fault of the model's. */
function isError(outcome: unknown, status: unknown): boolean {
  if (outcome === "upstream-failed" || outcome === "upstream-reset") return true;
  return typeof status === "number" && status >= 400;
}
