/** What people are told of a session that is parked. */
import { clipped } from "./mail.ts";
import { type ClosedQuota, UNNAMED_LIMIT } from "./quota.ts";

export interface Parked {
  readonly quota: ClosedQuota;
  /** Something of it waits: a start, a message, or a turn that failed. Otherwise nothing is missed yet. */
  readonly hasWork: boolean;
  /** Why, in half a sentence. */
  readonly text: string;
  /** The same as a sentence. */
  readonly sentence: string;
}

/** A line of a list holds the rest as well. */
const LONGEST_TEXT = 120;

/** Half a sentence: "the limit five_hour of claude work is reached; it resets at 08:03 UTC (…)". */
export function parkedText(quota: ClosedQuota, now: number): string {
  return `${reachedText(quota)}; ${nextText(quota.gate, quota.confidence, now)}${vendorWords(quota)}`;
}

/** The moment first, because a list cuts the end off: "Waits until 08:03 UTC: the limit five_hour of … is reached." */
export function parkedSentence(quota: ClosedQuota, now: number): string {
  const { gate, confidence } = quota;
  return gate.phase === "waiting" && confidence !== "none"
    ? `Waits until ${momentText(gate.dueAt, now)}: ${reachedText(quota)}${vendorWords(quota)}.`
    : `Waits: ${parkedText(quota, now)}.`;
}

function reachedText({ account, limit }: ClosedQuota): string {
  return `${limit === UNNAMED_LIMIT ? "a limit" : `the limit ${limit}`} of ${account} is reached`;
}

function vendorWords({ text }: ClosedQuota): string {
  return text === "" ? "" : ` (${clipped(text.replace(/\s+/g, " ").trim(), LONGEST_TEXT)})`;
}

function nextText(gate: ClosedQuota["gate"], confidence: ClosedQuota["confidence"], now: number): string {
  switch (gate.phase) {
    case "waiting": {
      const until = momentText(gate.dueAt, now);
      return confidence === "none" ? `Reeve tries again at ${until}` : `it resets at ${until}`;
    }
    case "probing":
      return gate.canary === null ? "it has been reset" : "one session tries it first";
    case "opening":
      return "it has been reset, and sessions continue one by one";
  }
}

const DAY_MS = 86_400_000;

/** In universal time, which says the same to everybody; with the date where the time alone could be another day's. */
export function momentText(at: number, now: number): string {
  const [date = "", time = ""] = new Date(Math.max(0, Math.min(at, 8.64e15))).toISOString().split("T");
  const clock = `${Math.abs(at - now) < 120_000 ? time.slice(0, 8) : time.slice(0, 5)} UTC`;
  return Math.abs(at - now) < DAY_MS / 2 ? clock : `${date} ${clock}`;
}
