/** What is kept of a session for whoever investigates afterwards, and how its model traffic is captured. */
import { listOf, object, oneOf, orNull, recordOf, text, type Of } from "./shape.ts";

/**
 * `native`: by what the agent itself offers, which changes nothing in it. `proxy`: by a proxy on loopback through which it
 * reaches its model, byte for byte. `none`: its agent has neither; everything else is kept.
 */
export const CAPTURES = ["native", "proxy", "none"] as const;

/** What a start may ask for. */
export const REQUESTED_CAPTURES = ["native", "proxy"] as const;

export const persistence = object({
  capture: oneOf(...CAPTURES),
  /** Where its debug log goes: absolute; null: none was asked for. */
  debugLog: orNull(text),
});
/** Of session_oai_raw.log and the older one together. */
export const RAW_LOG_BYTES = 256 * 1_048_576;

export interface Persistence extends Of<typeof persistence> {}
export type Capture = Persistence["capture"];

/** What capturing the traffic means for an agent, as its adapter planned it. */
export const plannedCapture = object({
  /** What it does not do, or does otherwise, while it is captured: plain sentences for the user. */
  switchedOff: listOf(text),
  /** With a proxy: where each of its base URLs leads, by a name of the adapter's. */
  upstreams: recordOf(text),
});
export interface PlannedCapture extends Of<typeof plannedCapture> {}
