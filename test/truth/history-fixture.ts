/** A history in which everything was told as it was: one turn, from a prompt given at the start; then it was ended. */
import type { Event, History, Sample, Sent, TrueTurn, Wake } from "./history.ts";

/** Some instant; the others count from it. */
export const T0 = 1_800_000_000_000;

export function turn(from: number, to: number | null, more: Partial<TrueTurn> = {}): TrueTurn {
  const verdict = more.verdict ?? (to === null ? "open" : "completed");
  return {
    prompt: "[[say hello]] q0n1q",
    startedAt: T0 + from,
    endedAt: to === null ? null : T0 + to,
    verdict,
    says: verdict === "completed" ? "hello" : null,
    mayJoin: false,
    allowed: verdict === "died" || verdict === "open" ? [] : [verdict],
    isOptional: verdict === "died",
    ...more,
  };
}

export function event(seq: number, at: number, type: string, data: Event["data"] = {}): Event {
  return { seq, at: T0 + at, type, data };
}

export function activity(seq: number, at: number, status: string, asks: string | null = null): Event {
  return event(seq, at, "activity-changed", { activity: { status, asks } });
}

export function wake(cursor: number, at: number, reason: string, shown: string | null = null): Wake {
  return { cursor, at: T0 + at, reason, shown, source: shown === null ? null : "transcript", isBehind: false };
}

export function sample(at: number, more: Partial<Sample> = {}): Sample {
  return {
    askedAt: T0 + at,
    answeredAt: T0 + at + 5,
    state: "running",
    liveness: "running",
    activity: "idle",
    observability: "observable",
    isAlive: null,
    hasTranscript: null,
    ...more,
  };
}

/** The message of the turn, or another one like it. */
export function sent(more: Partial<Sent>): Sent {
  return {
    tag: "q0n1q",
    text: "[[say hello]] q0n1q",
    how: "queue",
    at: T0 + 500,
    messageId: "m1",
    isAcknowledged: true,
    mayBeMissing: false,
    ...more,
  };
}

/** The turn lasts from second 1 to second 11; the process ends at second 30. */
export function trueHistory(more: Partial<History> = {}): History {
  return {
    mode: "claude",
    turns: [turn(1_000, 11_000)],
    questions: [],
    dialogs: [],
    births: [{ incarnation: 1, at: T0 }],
    deaths: [{ incarnation: 1, at: T0 + 30_000, cause: "ended" }],
    arrivals: [{ text: "[[say hello]] q0n1q", at: T0 + 1_000, times: 1 }],
    sent: [sent({})],
    interrupts: [],
    drafts: [],
    events: [
      event(1, 600, "message-admitted", { message_id: "m1" }),
      event(2, 1_050, "turn-started"),
      activity(3, 1_050, "working"),
      event(4, 1_100, "message-delivered", { message_id: "m1" }),
      event(5, 11_050, "turn-completed"),
      activity(6, 11_050, "idle"),
      event(7, 30_050, "session-exited", { incarnation: 1 }),
    ],
    samples: [
      sample(6_000, { activity: "working" }),
      sample(12_000),
      sample(31_000, { state: "stopped", liveness: "exited", isAlive: false }),
    ],
    wakes: [wake(5, 11_060, "turn-completed", "hello"), wake(7, 30_060, "exited")],
    looseWaits: [],
    disturbances: [],
    transcriptDeletedAt: null,
    failedCommands: [],
    trace: [],
    seen: [],
    leftBehind: [],
    stuck: null,
    isEnvironmentLost: false,
    lagMs: 0,
    finishedAt: T0 + 60_000,
    ...more,
  };
}
