import { describe, expect, it } from "vitest";
import { amend, type Amendment } from "./amend.ts";
import { GONE, isHeldByBranch, mismatchSentence, type SeenHead } from "./checkout.ts";
import type { BranchPolicy } from "./branch-policy.ts";
import type { Input } from "./input.ts";
import { isUnseen } from "./notice.ts";
import { headlineOf, needOf, needSince } from "./need.ts";
import { takesMessages } from "./pending-effect.ts";
import type { Session } from "./session.ts";
import { context, evidence, place, plannedSession, shown } from "./session-fixture.ts";
import { transition } from "./transition.ts";

const on = (branch: string): SeenHead => ({ branch, commit: null, underWay: null });
const REBASING: SeenHead = { branch: null, commit: "a".repeat(40), underWay: "a rebase of main" };

function running(policy: BranchPolicy, changes: Amendment = {}): Session {
  const planned = plannedSession({ identity: { ...plannedSession().identity, branch: "main" }, checkout: { policy } });
  const created = apply(planned, { type: "created", incarnation: 1, place, shown, evidence }).session;
  return amend(apply(created, seen(on("main"))).session, changes);
}

function seen(head: SeenHead): Input {
  return { type: "checkout-seen", incarnation: 1, root: "/work", head, evidence };
}

function apply(session: Session, input: Input) {
  const outcome = transition(session, input, context);
  if (outcome.refused !== null) throw new Error(outcome.refused.message);
  return outcome;
}

const typesOf = ({ events }: { readonly events: readonly { readonly type: string }[] }): readonly string[] =>
  events.map(({ type }) => type);

describe("what is checked out", () => {
  it("is recorded, and is nothing to tell where the session declared nothing and began there", () => {
    const session = plannedSession();
    const first = apply(session, seen(on("main")));
    expect({ events: first.events, checkout: first.session.checkout }).toMatchObject({
      events: [],
      checkout: { root: "/work", head: { branch: "main", at: 1_000 }, mismatchAt: null },
    });
    const second = apply(first.session, seen(on("other")));
    expect(second.events).toEqual([{ type: "branch-changed", from: "main", now: "other", evidence }]);
    expect(second.session.checkout.mismatchAt).toBeNull();
  });

  it("changes nothing when it was known, also while a rebase goes from commit to commit", () => {
    const session = apply(running("warn"), seen(REBASING)).session;
    expect(apply(session, seen({ ...REBASING, commit: "b".repeat(40) })).session).toBe(session);
    expect(apply(running("warn"), seen(on("main"))).events).toEqual([]);
  });
});

describe("a mismatch", () => {
  it("that comes while it is being started pauses it as soon as it runs, and it goes on with its branch", () => {
    const identity = { ...plannedSession().identity, branch: "main" };
    const starting = apply(plannedSession({ identity, checkout: { policy: "pause" } }), seen(on("other"))).session;
    const up = apply(starting, { type: "created", incarnation: 1, place, shown, evidence });
    expect(typesOf(up)).toEqual(["session-running", "pause-requested", "session-paused"]);
    expect(up.session).toMatchObject({ state: "paused", reason: { code: "branch-mismatch" } });
    expect(apply(up.session, seen(on("main"))).session.state).toBe("running");
  });

  it("is an event with both branches and the policy, and what the session needs until somebody has seen it", () => {
    const { session, events } = apply(running("warn"), seen(on("other")));
    const text = "Its checkout is on branch other, not on main. It goes on.";
    const reason = { code: "branch-mismatch", text, evidence };
    expect(events).toEqual([{ type: "branch-mismatched", declared: "main", actual: "other", policy: "warn", reason }]);
    expect({
      state: session.state,
      need: needOf(session),
      since: needSince(session),
      takes: takesMessages(session),
    }).toEqual({ state: "running", need: "failed", since: 1_000, takes: true });
    expect(headlineOf(session)).toBe("Its checkout is on branch other, not on main.");
    const looked = apply(session, { type: "seen", revision: session.revision }).session;
    expect(needOf(looked)).not.toBe("failed");
    expect(mismatchSentence(looked)).toBe("Its checkout is on branch other, not on main.");
  });

  it("is no news of a turn: a session whose branch is back is what it was before", () => {
    const before = running("warn");
    const after = apply(apply(before, seen(on("other"))).session, seen(on("main"))).session;
    expect({ need: needOf(after), isUnseen: isUnseen(after) }).toEqual({ need: needOf(before), isUnseen: false });
  });

  it("stays unseen for who looked before it came", () => {
    const before = running("warn");
    const { session } = apply(before, seen(on("other")));
    expect(apply(session, { type: "seen", revision: before.revision }).session).toBe(session);
  });

  it.each([
    [REBASING, "In its checkout a rebase of main is under way; it declared branch main."],
    [{ ...GONE, commit: "a".repeat(40) }, "Its checkout is on commit aaaaaaaa and on no branch, not on main."],
    [GONE, "Its checkout is gone; it declared branch main."],
  ])("says what is there instead: %o", (head, sentence) => {
    expect(mismatchSentence(apply(running("warn"), seen(head)).session)).toBe(sentence);
  });

  it("is told again when yet another branch is checked out, and keeps its beginning", () => {
    const first = apply(running("warn"), seen(on("other"))).session;
    const outcome = transition(first, { ...seen(on("third")), evidence: { ...evidence, at: 5_000 } } as Input, context);
    expect(outcome).toMatchObject({
      events: [{ type: "branch-mismatched", actual: "third" }],
      session: { checkout: { mismatchAt: 1_000, head: { at: 5_000 } } },
    });
  });

  it("ends with the declared branch, and nothing of it is left", () => {
    const restored = apply(apply(running("warn"), seen(on("other"))).session, seen(on("main")));
    expect(restored.events).toEqual([{ type: "branch-restored", branch: "main", evidence }]);
    expect(mismatchSentence(restored.session)).toBeNull();
  });
});

describe("the policy pause", () => {
  const away = (): Session => apply(running("pause"), seen(on("other"))).session;

  it("pauses in the same commit, and resumes when the branch is right again", () => {
    const paused = apply(running("pause"), seen(on("other")));
    expect(typesOf(paused)).toEqual(["branch-mismatched", "pause-requested", "session-paused"]);
    expect(paused.session).toMatchObject({
      state: "paused",
      reason: { code: "branch-mismatch" },
      wish: { desired: "paused", pauseMode: "detach", lastCommand: { type: "pause", by: "system" } },
    });
    expect(needOf(paused.session)).toBe("blocked");
    const resumed = apply(paused.session, seen(on("main")));
    expect(typesOf(resumed)).toEqual(["branch-restored", "resume-requested", "session-resumed"]);
    expect(resumed.session).toMatchObject({ state: "running", wish: { desired: "running", pauseMode: null } });
  });

  it("leaves a pause alone that somebody asked for, before or after", () => {
    const before = apply(running("pause"), { type: "pause", mode: "detach" }).session;
    const mismatched = apply(before, seen(on("other")));
    expect(typesOf(mismatched)).toEqual(["branch-mismatched"]);
    expect(apply(mismatched.session, seen(on("main"))).session.state).toBe("paused");
    for (const mode of ["detach", "suspend"] as const) {
      const taken = apply(away(), { type: "pause", mode }).session;
      expect(apply(taken, seen(on("main")))).toMatchObject({
        events: [{ type: "branch-restored" }],
        session: { wish: { desired: "paused", pauseMode: mode } },
      });
    }
  });

  it("lets a person go on regardless, until yet another branch is checked out", () => {
    const resumed = apply(away(), { type: "resume" }).session;
    expect(resumed.state).toBe("running");
    expect(apply(resumed, seen(on("other"))).session).toBe(resumed);
    expect(apply(resumed, seen(on("third"))).session.state).toBe("paused");
  });

  it("does not pause what is being ended", () => {
    const ending = apply(running("pause"), { type: "end", graceMs: 5, afterTurn: true }).session;
    expect(typesOf(apply(ending, seen(on("other"))))).toEqual(["branch-mismatched"]);
  });
});

describe("the policy error", () => {
  it("leaves the state as it is, and gives the session nothing until its branch is back", () => {
    const { session } = apply(running("error"), seen(on("other")));
    expect({ state: session.state, need: needOf(session), takes: takesMessages(session) }).toEqual({
      state: "running",
      need: "blocked",
      takes: false,
    });
    const back = apply(session, seen(on("main"))).session;
    expect({ takes: takesMessages(back), held: isHeldByBranch(back) }).toEqual({ takes: true, held: false });
  });

  it("is no longer anybody's concern once its process is gone", () => {
    const { session } = apply(running("error"), seen(on("other")));
    const ended = apply(session, { type: "found-exited", incarnation: 1, code: 0, signal: null, evidence }).session;
    expect({ sentence: mismatchSentence(ended), held: isHeldByBranch(ended) }).toEqual({ sentence: null, held: false });
  });
});
