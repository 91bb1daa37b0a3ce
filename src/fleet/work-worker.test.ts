import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { amend, type Amendment } from "../session/amend.ts";
import { anyInput, context, evidence, plannedSession } from "../session/session-fixture.ts";
import { isEnded, type Session } from "../session/session.ts";
import { transition } from "../session/transition.ts";
import { workItem } from "./work-fixture.ts";
import { endOfFlight, requireFitting, requireFree, workerOf } from "./work-worker.ts";

const exit = (code: number | null, signal: string | null = null) => ({ code, signal, at: 5 });
const died: Amendment = {
  state: "error",
  reason: { code: "killed", text: "Its process was killed by SIGKILL.", evidence },
  process: { exit: exit(null, "SIGKILL") },
};
const running = plannedSession({ state: "running" });
const session = (changes: Amendment): Session => amend(running, changes);
const restart = (dueAt: number | null) => ({ ...running.process.restart, dueAt });
const stop = (next: "stopped" | "restart" | "rest") => ({
  next,
  graceMs: 0,
  afterTurn: false,
  by: null,
  timedOut: null,
});

describe("what becomes of the item of a session", () => {
  test.each<[string, Session, object | null]>([
    ["it runs", running, null],
    ["it died", session(died), { type: "release", why: "Session builder is gone. Its process was killed by SIGKILL." }],
    ["it died, and is started again", session({ ...died, process: { exit: exit(1), restart: restart(9) } }), null],
    ["it died, and what it left is being ended", session({ ...died, wish: { stop: stop("rest") } }), null],
    ["a restart is under way", session({ ...died, wish: { stop: stop("restart") } }), null],
    ["an end is under way", session({ wish: { desired: "stopped", stop: stop("stopped") } }), null],
    [
      "it was ended",
      session({ state: "stopped", wish: { desired: "stopped" } }),
      { type: "release", why: "Session builder was ended." },
    ],
    ["it cannot be reached", session({ process: { liveness: { status: "unreachable", evidence } } }), null],
    [
      "its transcript is lost",
      session({ watch: { observability: { ...running.watch.observability, status: "lost" } } }),
      null,
    ],
    ["an agent left", session({ state: "stopped", process: { exit: exit(0) } }), { type: "release" }],
    [
      "a program ended well",
      session({ state: "stopped", identity: { hasTurns: false }, process: { exit: exit(0) } }),
      { type: "built", text: "Its program ended with status 0.", sessionId: "abc" },
    ],
    ["a program failed", session({ ...died, identity: { hasTurns: false } }), { type: "release" }],
  ])("%s", (_, worker, expected) => {
    const end = endOfFlight(worker);
    if (expected === null) expect(end).toBeNull();
    else expect(end).toMatchObject(expected);
  });

  test("whatever happens to a session, its item is taken only when its end is proven and nothing follows", () => {
    fc.assert(
      fc.property(fc.array(anyInput(), { maxLength: 30 }), (inputs) => {
        let now = plannedSession();
        for (const input of inputs) {
          const outcome = transition(now, input, context);
          if ("session" in outcome) now = outcome.session;
          if (endOfFlight(now) === null) continue;
          expect(now.process.exit !== null || isEnded(now)).toBe(true);
          expect([now.process.restart.dueAt, now.wish.stop, now.state === "starting"]).toEqual([null, null, false]);
        }
      }),
    );
  });
});

test("a worker fits if it is what the item asks for", () => {
  const worker = workerOf(session({ identity: { branch: "main" } }));
  expect(worker).toEqual({ agent: "practice", role: "agent", branch: "main" });
  expect(() => requireFitting(workItem({ agent: null }), worker)).not.toThrow();
  expect(() => requireFitting(workItem({ branch: "main" }), worker)).not.toThrow();
  expect(() => requireFitting(workItem({ role: "tester" }), worker)).toThrow(
    "work-one asks for the role tester, and the worker has agent; take another worker, or change the item: reeve work edit work-one --role agent.",
  );
  expect(() => requireFitting(workItem({ branch: "parser" }), { ...worker, branch: null })).toThrow(
    "the worker has none",
  );
});

test("only a session that does nothing takes an item", () => {
  expect(() => requireFree(running, false)).not.toThrow();
  expect(() => requireFree(running, true)).toThrow("messages wait for it");
  expect(() => requireFree(session({ conversation: { turnOpen: true } }), false)).toThrow("under way");
  expect(() => requireFree(session(died), false)).toThrow("its process has ended");
});
