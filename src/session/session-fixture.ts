/** Sessions and inputs for tests of the domain. */
import { amend, type Amendment } from "./amend.ts";
import fc from "fast-check";
import { OPERATOR } from "./caller.ts";
import type { Context, Input } from "./input.ts";
import { planSession } from "./plan-session.ts";
import type { TurnReading } from "./reading.ts";
import type { Evidence, Session } from "./session.ts";
import { plainLaunch } from "./plain-launch.ts";

export const evidence: Evidence = { source: "runtime", detail: "seen in a test", at: 1_000 };
export const place = { id: "%1", pid: 4242, startTicks: "99" };
export const shown = { text: "process 4242", id: "%1", pid: 4242 };
export const context: Context = { now: 2_000, random: 0.5, caller: OPERATOR };

export function plannedSession(overrides: Amendment = {}): Session {
  const { session } = planSession(
    {
      id: "abc",
      name: "builder",
      role: "agent",
      agent: "practice",
      hasTurns: true,
      runtime: "tmux",
      launch: plainLaunch("/"),
      restartPolicy: "never",
      parentId: null,
      notify: [],
      outputsDir: "/outputs/agents/agent/abc",
      branch: null,
      nativeId: null,
      watch: { mode: "hooks", text: "Its hooks tell.", version: null, socket: null, statusDir: null, capture: null },
      transcriptPath: null,
      observabilityReason: "not yet",
      passHash: "hash",
    },
    1_000,
    OPERATOR,
  );
  return amend(session, overrides);
}

/** Any input, for any incarnation a short run can reach, in any order: also those that make no sense. */
export function anyInput(): fc.Arbitrary<Input> {
  const incarnation = fc.integer({ min: 1, max: 4 });
  const observation = <T extends object>(fields: T) =>
    incarnation.map((number) => ({ ...fields, incarnation: number, evidence }));
  return fc.oneof(
    fc.constantFrom<Input>({ type: "pause", mode: "detach" }, { type: "pause", mode: "suspend" }, { type: "resume" }),
    fc.constantFrom<Input>(
      { type: "cancel-end" },
      { type: "interrupt" },
      { type: "restart", graceMs: 5 },
      { type: "end", graceMs: 5, afterTurn: false },
      { type: "end", graceMs: 0, afterTurn: true },
      { type: "set-restart-policy", policy: "never" },
      { type: "set-restart-policy", policy: "always" },
    ),
    observation({ type: "created" as const, place, shown }),
    observation({ type: "create-failed" as const, code: "tmux-missing" }),
    observation({ type: "create-delayed" as const, code: "runtime-unreachable" }),
    observation({ type: "environment-lost" as const }),
    observation({ type: "found-running" as const, place, shown, adopted: true }),
    observation({ type: "found-running" as const, place, shown, adopted: false }),
    observation({ type: "found-exited" as const, code: 0, signal: null }),
    observation({ type: "found-exited" as const, code: 1, signal: null }),
    observation({ type: "found-exited" as const, code: 137, signal: "SIGKILL" }),
    observation({ type: "found-absent" as const, asked: place }),
    observation({ type: "found-absent" as const, asked: null }),
    observation({ type: "found-unreachable" as const, asked: place }),
    observation({ type: "found-frozen" as const }),
    observation({ type: "found-thawed" as const }),
    observation({ type: "suspended" as const }),
    observation({ type: "released" as const }),
    observation({ type: "cleared" as const, isPlaceGone: true }),
    observation({ type: "cleared" as const, isPlaceGone: false }),
    observation({ type: "stop-begun" as const }),
    observation({ type: "stop-delayed" as const }),
    observation({ type: "found-absent" as const, asked: place, isShared: true }),
    fc.constantFrom<Input>({ type: "restart-due" }, { type: "restart-postponed", waitMs: 9_000 }),
    fc
      .record({
        number: incarnation,
        turn: fc.constantFrom<TurnReading>(
          { phase: "started" },
          { phase: "started", id: "a" },
          { phase: "started", id: "b" },
          { phase: "completed" },
          { phase: "completed", id: "a" },
          { phase: "interrupted", id: "b" },
          { phase: "failed", error: "429" },
        ),
        source: fc.constantFrom(
          "hook" as const,
          "transcript" as const,
          "status" as const,
          "screen" as const,
          "protocol" as const,
        ),
      })
      .map<Input>(({ number, turn, source }) => ({
        type: "read",
        incarnation: number,
        reading: { source, detail: "seen", turn },
      })),
    fc.record({ number: incarnation, id: fc.constantFrom("p", "q"), isAsked: fc.boolean() }).map<Input>((asked) => ({
      type: "read",
      incarnation: asked.number,
      reading: {
        source: "hook",
        detail: "a hook",
        approval: asked.isAsked
          ? { requested: { id: asked.id, kind: "command", title: "rm", subject: null, cwd: null, reason: null } }
          : { settled: { id: asked.id, decision: "approved" } },
      },
    })),
    observation({ type: "checkout-seen" as const, root: "/r", head: { branch: "main", commit: null, underWay: null } }),
    observation({
      type: "checkout-seen" as const,
      root: "/r",
      head: { branch: "other", commit: null, underWay: null },
    }),
    observation({ type: "stalled" as const }),
    fc
      .record({ number: incarnation, verdict: fc.constantFrom("healthy" as const, "slow" as const, "hung" as const) })
      .map<Input>(({ number, verdict }) => ({ type: "examined", incarnation: number, pulse: { verdict, evidence } })),
    observation({ type: "answer-given" as const, approvalId: "p" }),
    fc.constantFrom<Input>(
      { type: "answer", approvalId: "p", decision: "approved" },
      { type: "answer", approvalId: "p", decision: "denied" },
    ),
    fc
      .record({
        number: incarnation,
        activity: fc.constantFrom("idle" as const, "awaiting-approval" as const, "awaiting-input" as const),
      })
      .map<Input>(({ number, activity }) => ({
        type: "read",
        incarnation: number,
        reading: { source: "hook", detail: "a hook", activity, transcript: "observable" },
      })),
  );
}
