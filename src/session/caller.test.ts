/** Whoever asks stands in the reason, the record and the answers. */
import { describe, expect, test } from "vitest";
import { askedFor, type Caller, callerName, OPERATOR, reachedBy, signature, SYSTEM } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { read, runningSession } from "./run-inputs.ts";
import type { Session } from "./session.ts";
import { context, evidence } from "./session-fixture.ts";
import { transition } from "./transition.ts";

const BOSS: Caller = { kind: "session", id: "boss" };

function apply(session: Session, input: Input, caller?: Caller): { session: Session; events: readonly SessionEvent[] } {
  const { now, random } = context;
  const outcome = transition(session, input, { now, random, ...(caller === undefined ? {} : { caller }) });
  if (outcome.refused !== null) throw new Error(outcome.refused.message);
  return outcome;
}

describe("a caller", () => {
  test.each([
    [OPERATOR, "operator", { source: "operator", detail: "asked for" }],
    [BOSS, "session:boss", { source: "session", detail: "asked for by session boss" }],
    [SYSTEM, "system", { source: "supervisor", detail: "asked for by Reeve itself" }],
  ])("%j is recorded as %s, in the reason and as whose command came last", (caller, name, known) => {
    expect(callerName(caller)).toBe(name);
    expect(askedFor(caller, 5)).toEqual({ ...known, at: 5 });
    const { session } = apply(runningSession(), { type: "pause", mode: "detach" }, caller);
    expect(session.reason.evidence).toMatchObject(known);
    expect(session.wish.lastCommand).toEqual({ type: "pause", by: name, at: context.now });
  });

  test("is not recorded where the command changed nothing, nor for an observation", () => {
    const paused = apply(runningSession(), { type: "pause", mode: "detach" }, BOSS).session;
    expect(apply(paused, { type: "pause", mode: "detach" }, OPERATOR).session).toBe(paused);
    const { session } = apply(paused, {
      type: "found-unreachable",
      incarnation: 1,
      asked: paused.process.place,
      evidence,
    });
    expect([session.process.liveness.status, session.wish.lastCommand?.by]).toEqual(["unreachable", "session:boss"]);
  });

  test("how it came here is beside who it is, and changes nothing about that", () => {
    expect(signature(OPERATOR)).toEqual({ caller: "operator" });
    expect(signature(reachedBy(OPERATOR, "board"))).toEqual({ caller: "operator", via: "board" });
    expect(signature(reachedBy(BOSS, "mcp"))).toEqual({ caller: "session:boss", via: "mcp" });
    expect(reachedBy(SYSTEM, "cli")).toBe(SYSTEM);
    expect(askedFor(reachedBy(BOSS, "mcp"), 5)).toEqual(askedFor(BOSS, 5));
  });

  test.each([[OPERATOR], [BOSS], [reachedBy(BOSS, "mcp")]])(
    "%j that answered is who settled the question",
    (caller) => {
      const question = { id: "q", kind: "command", title: "rm", subject: null, cwd: null, reason: null } as const;
      const asking = apply(runningSession(), read({ approval: { requested: question } })).session;
      const wanted = apply(asking, { type: "answer", approvalId: "q", decision: "approved" }, caller).session;
      expect(wanted.conversation.approvals[0]?.answer).toMatchObject({ by: callerName(caller), stage: "wanted" });
      const given = apply(wanted, { type: "answer-given", incarnation: 1, approvalId: "q" }).session;
      const { events } = apply(given, read({ approval: { settled: { id: "q", decision: "approved" } } }));
      const settled = events.find(({ type }) => type === "approval-settled");
      expect(settled).toMatchObject({ decision: "approved", by: callerName(caller) });
      expect(settled !== undefined && "via" in settled ? settled.via : undefined).toBe(signature(caller).via);
    },
  );
});
