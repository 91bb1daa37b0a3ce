/**
 * The domain against a small world of processes: effects are carried out,
 * things die, become unreachable and are found again at random, Reeve forgets
 * everything but the record in between. Whatever happened, at most one process
 * lives at a time, no question is answered twice, and once the end is asked
 * for nothing is left.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Decision } from "./approval.ts";
import type { Command, Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import type { Session } from "./session.ts";
import { context, evidence, place, plannedSession, shown } from "./session-fixture.ts";
import { transition } from "./transition.ts";

type Happening =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "effect" }
  | { readonly kind: "crash-after-effect" }
  | { readonly kind: "look" }
  /** The runtime is asked, and its answer takes its time. */
  | { readonly kind: "ask" }
  | { readonly kind: "answer-arrives" }
  | { readonly kind: "process-dies"; readonly code: number }
  | { readonly kind: "reach"; readonly isReachable: boolean }
  | { readonly kind: "agent-asks" }
  | { readonly kind: "somebody-answers"; readonly decision: Decision }
  | { readonly kind: "timer" };

const happenings = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Happening>({ kind: "effect" }) },
    { weight: 1, arbitrary: fc.constant<Happening>({ kind: "crash-after-effect" }) },
    { weight: 3, arbitrary: fc.constant<Happening>({ kind: "look" }) },
    { weight: 2, arbitrary: fc.constantFrom<Happening>({ kind: "ask" }, { kind: "answer-arrives" }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Happening>({ kind: "process-dies", code: 0 }, { kind: "process-dies", code: 1 }),
    },
    { weight: 1, arbitrary: fc.boolean().map<Happening>((isReachable) => ({ kind: "reach", isReachable })) },
    { weight: 1, arbitrary: fc.constant<Happening>({ kind: "timer" }) },
    { weight: 1, arbitrary: fc.constant<Happening>({ kind: "agent-asks" }) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom<Decision>("approved", "denied")
        .map<Happening>((decision) => ({ kind: "somebody-answers", decision })),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom<Command>(
          { type: "pause", mode: "detach" },
          { type: "pause", mode: "suspend" },
          { type: "resume" },
          { type: "restart", graceMs: 0 },
          { type: "end", graceMs: 0, afterTurn: false },
          { type: "set-restart-policy", policy: "never" },
          { type: "set-restart-policy", policy: "always" },
        )
        .map<Happening>((command) => ({ kind: "command", command })),
    },
  ),
  { maxLength: 60 },
);

interface World {
  session: Session;
  /** Incarnation → exit code, or null while it lives. A place goes with `destroy`. */
  readonly places: Map<number, number | null>;
  isReachable: boolean;
  /** Of the runtime, on their way. */
  readonly answers: Input[];
  /** The agent's question, as it is on its screen. */
  question: string | null;
  questions: number;
  /** Whose keys were pressed. */
  readonly pressed: string[];
}

function apply(world: World, input: Input): void {
  const outcome = transition(world.session, input, context);
  if (outcome.refused === null) world.session = outcome.session;
}

/** Does what is pending; `isRecorded` false is a crash before the outcome was committed. */
function carryOut(world: World, isRecorded: boolean): void {
  const effect = pendingEffect(world.session);
  if (effect === null || !world.isReachable) return;
  const { incarnation } = effect;
  const record = (input: Input): void => {
    if (isRecorded) apply(world, input);
  };
  if (effect.kind === "create") {
    if (!world.places.has(incarnation)) world.places.set(incarnation, null);
    return record({ type: "created", incarnation, place, shown, evidence });
  }
  if (effect.kind === "suspend") return record({ type: "suspended", incarnation, evidence });
  if (effect.kind === "release") return record({ type: "released", incarnation, evidence });
  if (effect.kind === "interrupt") return;
  if (effect.kind === "answer") return answer(world, effect.approvalId, isRecorded);
  if (world.places.get(incarnation) === null) world.places.set(incarnation, 143);
  if (effect.stop.next === "stopped") world.places.delete(incarnation);
  record({ type: "cleared", incarnation, isPlaceGone: effect.stop.next === "stopped", evidence });
}

/** That the keys may be pressed is committed before; a crash follows before, or after, they were. */
function answer(world: World, approvalId: string, isRecorded: boolean): void {
  const { incarnation } = world.session.process;
  if (world.session.conversation.approvals.find(({ id }) => id === approvalId)?.answer?.stage === "wanted") {
    apply(world, { type: "answer-given", incarnation, approvalId });
    if (!isRecorded && world.questions % 2 === 0) return;
    if (world.places.get(incarnation) === null && world.question === approvalId) {
      world.pressed.push(approvalId);
      world.question = null;
    }
  }
  if (!isRecorded) return;
  const isGone = world.question !== approvalId;
  const reading = {
    source: "hook",
    detail: "no longer asked",
    approval: { settled: { id: approvalId, decision: null } },
  } as const;
  if (isGone) return apply(world, { type: "read", incarnation, reading });
  const reason = { code: "answer-unverified", text: "It still asks.", evidence };
  apply(world, { type: "answer-failed", incarnation, approvalId, reason });
}

function ask(world: World): void {
  const { incarnation } = world.session.process;
  if (world.places.get(incarnation) !== null || world.question !== null) return;
  const id = `question-${++world.questions}`;
  world.question = id;
  const requested = { id, kind: "command", title: "rm", subject: null, cwd: null, reason: null } as const;
  apply(world, { type: "read", incarnation, reading: { source: "hook", detail: "asks", approval: { requested } } });
}

function look(world: World): Input {
  const { incarnation, place: asked } = world.session.process;
  if (!world.isReachable) return { type: "found-unreachable", incarnation, asked, evidence };
  const code = world.places.get(incarnation);
  if (code === null) return { type: "found-running", incarnation, place, shown, evidence, adopted: false };
  if (code !== undefined) return { type: "found-exited", incarnation, code, signal: null, evidence };
  return { type: "found-absent", incarnation, asked, evidence };
}

function arrive(world: World): void {
  const answer = world.answers.shift();
  if (answer !== undefined) apply(world, answer);
}

function step(world: World, happening: Happening): void {
  switch (happening.kind) {
    case "command":
      return apply(world, happening.command);
    case "effect":
      return carryOut(world, true);
    case "crash-after-effect":
      return carryOut(world, false);
    case "look":
      return apply(world, look(world));
    case "ask":
      return void world.answers.push(look(world));
    case "answer-arrives":
      return arrive(world);
    case "process-dies":
      for (const [incarnation, code] of world.places) if (code === null) world.places.set(incarnation, happening.code);
      world.question = null;
      return;
    case "reach":
      world.isReachable = happening.isReachable;
      return;
    case "agent-asks":
      return ask(world);
    case "somebody-answers":
      return apply(world, {
        type: "answer",
        approvalId: world.session.conversation.approvals[0]?.id ?? "question-0",
        decision: happening.decision,
      });
    case "timer":
      return apply(world, { type: "restart-due" });
  }
}

const living = (world: World): number => [...world.places.values()].filter((code) => code === null).length;

test("at most one process lives, no question is answered twice, and after an end nothing is left", () => {
  fc.assert(
    fc.property(
      happenings,
      fc.constantFrom("never" as const, "on-failure" as const, "always" as const),
      (story, restartPolicy) => {
        const world: World = {
          session: plannedSession({ identity: { restartPolicy } }),
          places: new Map(),
          isReachable: true,
          answers: [],
          question: null,
          questions: 0,
          pressed: [],
        };
        for (const happening of story) {
          step(world, happening);
          expect(living(world)).toBeLessThanOrEqual(1);
          // Nothing is called dead that lives, however old the answer that says so.
          if (world.session.process.exit !== null)
            expect(world.places.get(world.session.process.incarnation)).not.toBe(null);
          expect(new Set(world.pressed).size).toBe(world.pressed.length);
        }
        world.isReachable = true;
        apply(world, { type: "end", graceMs: 0, afterTurn: false });
        for (let turn = 0; turn < 6 && pendingEffect(world.session) !== null; turn++) {
          carryOut(world, true);
          apply(world, look(world));
        }
        expect(world.session).toMatchObject({
          state: "stopped",
          wish: { desired: "stopped", stop: null },
          conversation: { approvals: [] },
        });
        expect(living(world)).toBe(0);
      },
    ),
    { numRuns: 2_000 },
  );
});
