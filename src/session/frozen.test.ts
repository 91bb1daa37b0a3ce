import { describe, expect, it } from "vitest";
import { isFrostNews } from "./frozen.ts";
import { pendingEffect } from "./pending-effect.ts";
import { created, run, types } from "./run-inputs.ts";
import { evidence, plannedSession } from "./session-fixture.ts";

const freeze = { type: "found-frozen", incarnation: 1, evidence } as const;
const thaw = { type: "found-thawed", incarnation: 1, evidence } as const;

describe("paused by hand", () => {
  it("is paused, with the reason, and nothing is done about it", () => {
    const { session, events } = run(plannedSession(), created, freeze, freeze);
    expect(types(events)).toEqual(["session-running", "session-paused"]);
    expect(session).toMatchObject({ state: "paused", reason: { code: "paused-outside" }, process: { exit: null } });
    expect(pendingEffect(session)).toBeNull();
    expect(isFrostNews(session, true)).toBe(false);
    expect(isFrostNews(session, false)).toBe(true);
  });

  it("goes on when it is let go by hand, or by resume", () => {
    const byHand = run(plannedSession(), created, freeze, thaw);
    expect(byHand.session).toMatchObject({
      state: "running",
      wish: { desired: "running" },
      process: { suspended: false },
    });
    const asked = run(plannedSession(), created, freeze, { type: "resume" }).session;
    expect(pendingEffect(asked)).toMatchObject({ kind: "release" });
    expect(run(asked, thaw).session).toEqual(asked);
    expect(run(asked, { type: "released", incarnation: 1, evidence }).session.state).toBe("running");
  });

  it("leaves alone what Reeve itself suspended, or is about to", () => {
    const wished = run(plannedSession(), created, { type: "pause", mode: "suspend" }).session;
    expect(run(wished, freeze).session).toEqual(wished);
    const suspended = run(wished, { type: "suspended", incarnation: 1, evidence }).session;
    expect(run(suspended, freeze, thaw).session).toEqual(suspended);
  });
});
