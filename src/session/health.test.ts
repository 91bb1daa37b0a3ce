/** One word for how a session fares, from its record. */
import { NO_RESTARTS } from "./restart-record.ts";
import { describe, expect, test } from "vitest";
import { amend, type Amendment } from "./amend.ts";
import { healthOf, type Pulse } from "./health.ts";
import { headlineOf, needOf, needSince } from "./need.ts";
import { context, evidence, place, plannedSession } from "./session-fixture.ts";
import type { Evidence, Session } from "./session.ts";
import { transition } from "./transition.ts";

const pulse = (verdict: Pulse["verdict"], at = 5_000): Pulse => ({
  verdict,
  evidence: { source: "runtime", detail: "process 7 is stopped, and not by Reeve", at },
});
const activity = (status: Session["conversation"]["activity"]["status"]) => ({
  activity: { status, asks: null, evidence },
});
const WORKING: Amendment = {
  state: "running",
  process: { place, liveness: { status: "running", evidence } },
  conversation: { ...activity("working"), turnOpen: true, turns: 3 },
};

function session(...changes: readonly Amendment[]): Session {
  return [WORKING, ...changes].reduce(amend, plannedSession());
}

const reason = (code: string) => ({ code, text: "It died.", evidence: { ...evidence, at: 7_000 } });
const restart = (restartedAt: readonly number[], dueAt: number | null) => ({
  ...NO_RESTARTS,
  count: restartedAt.length,
  recent: restartedAt.map((at) => ({ at, boot: "one", upMs: at, cause: "own" as const, isOvercome: false })),
  dueAt,
});
const died: Amendment = {
  state: "error",
  reason: reason("failed"),
  process: { exit: { code: 1, signal: null, at: 6_000 }, liveness: { status: "exited", evidence } },
  conversation: { turnOpen: false, ...activity("unknown") },
};
const hung: Amendment = { process: { pulse: pulse("hung") } };
const stalled: Amendment = { conversation: { stalledAt: 4_000 } };

describe("the verdict", () => {
  test.each<[string, string, number, Session]>([
    ["a turn under way", "healthy", 1_000, session()],
    ["idle", "healthy", 1_000, session({ conversation: { turnOpen: false, ...activity("idle") } })],
    ["before it was started", "healthy", 1_000, plannedSession()],
    ["it is slow", "slow", 5_000, session({ process: { pulse: pulse("slow") } })],
    ["it was slow, and its turn is over", "healthy", 1_000, session({ process: { pulse: pulse("slow") } }, idle())],
    ["it hung and goes on", "healthy", 5_000, session({ process: { pulse: pulse("healthy") } })],
    ["nothing was heard from its turn", "stalled", 4_000, session(stalled)],
    ["slow, and then nothing was heard", "stalled", 4_000, session(stalled, { process: { pulse: pulse("slow") } })],
    ["it hangs", "hung", 5_000, session(hung)],
    ["it hangs while it starts", "hung", 5_000, session(hung, starting())],
    ["silent, because it hangs", "hung", 5_000, session(stalled, hung)],
    ["stopped by Reeve", "healthy", 1_000, session(hung, { process: { suspended: true } })],
    ["about to be stopped by Reeve", "healthy", 1_000, session(hung, { wish: { desired: "paused" } })],
    [
      "it hangs, and is to end after its turn",
      "hung",
      5_000,
      session(hung, {
        wish: { desired: "stopped", stop: { next: "stopped", graceMs: 1, afterTurn: true, by: null, timedOut: null } },
      }),
    ],
    [
      "being ended",
      "healthy",
      1_000,
      session(hung, { wish: { stop: { next: "stopped", graceMs: 1, afterTurn: false, by: null, timedOut: null } } }),
    ],
    [
      "its runtime does not answer",
      "unreachable",
      1_000,
      session(hung, { process: { liveness: { status: "unreachable", evidence } } }),
    ],
    ["it died", "crashed", 6_000, session(died)],
    ["it died and is started again", "crashed", 6_000, session(died, { process: { restart: restart([1, 2], 9) } })],
    ["it dies again and again", "crash-looping", 1, session(died, { process: { restart: restart([1, 2, 3], 9) } })],
    ["given up", "crash-looping", 7_000, session(died, { reason: reason("restarts-exhausted") })],
    [
      "started for the fourth time",
      "crash-looping",
      1,
      session(starting(), {
        state: "starting",
        reason: reason("restart-policy"),
        process: { restart: restart([1, 2, 3], null) },
      }),
    ],
    ["restarted often, and it runs", "healthy", 1_000, session({ process: { restart: restart([1, 2, 3], null) } })],
  ])("%s: %s since %i", (_, verdict, sinceAt, of) => {
    expect(healthOf(of)).toMatchObject({ verdict, sinceAt });
  });

  test("parked explains a silence, and no hang", () => {
    const parked: Evidence = { source: "protocol", detail: "the quota resets at 12:00", at: 3_000 };
    expect(healthOf(session(stalled), { parked })).toEqual({ verdict: "parked", sinceAt: 3_000, evidence: parked });
    expect(healthOf(session(hung), { parked }).verdict).toBe("hung");
  });
});

describe("what follows from it", () => {
  const examined = (of: Session, verdict: Pulse["verdict"], incarnation = 1) => {
    const outcome = transition(of, { type: "examined", incarnation, pulse: pulse(verdict) }, context);
    if (outcome.refused !== null) throw new Error("refused");
    return outcome;
  };

  test("one that hangs needs somebody, and says why", () => {
    const { session: next, events } = examined(session(), "hung");
    expect(events).toEqual([{ type: "health-changed", from: "healthy", health: healthOf(next) }]);
    expect([needOf(next), needSince(next), headlineOf(next)]).toEqual([
      "blocked",
      5_000,
      "Its process does not run although it should: process 7 is stopped, and not by Reeve.",
    ]);
    expect(examined(next, "hung")).toMatchObject({ session: next, events: [] });
    const again = examined(next, "healthy");
    expect(again.events).toMatchObject([{ type: "health-changed", from: "hung", health: { verdict: "healthy" } }]);
    expect(needOf(again.session)).toBe("working");
  });

  test("one that is slow needs nobody", () => {
    const { session: next, events } = examined(session(), "slow");
    expect(events).toMatchObject([{ from: "healthy", health: { verdict: "slow" } }]);
    expect([needOf(next), headlineOf(next)]).toEqual(["working", ""]);
  });

  test("nothing is said of one that need not run, is dead, or is another process by now", () => {
    for (const of of [session(idle()), session(died)]) expect(examined(of, "hung").session).toBe(of);
    const newer = session({ process: { incarnation: 2 } });
    expect(examined(newer, "hung").session).toBe(newer);
  });

  test("a dead process does not hang", () => {
    const input = { type: "found-exited", incarnation: 1, code: 0, signal: null, evidence } as const;
    const outcome = transition(session(hung), input, context);
    expect(outcome.refused === null && outcome.session.process.pulse).toBe(null);
  });
});

function idle(): Amendment {
  return { conversation: { turnOpen: false, ...activity("idle") } };
}

function starting(): Amendment {
  return { conversation: { turnOpen: false, turns: 0, ...activity("starting") } };
}
