import { expect, test } from "vitest";
import { agentWith, makeGround } from "../attention/watch-fixture.ts";

test("a listener that throws is logged, and the others are told (issue 7, 24)", async () => {
  const ground = await makeGround(agentWith({}));
  try {
    const told: string[] = [];
    ground.ledger.onCommit(() => {
      throw new Error("a careless listener");
    });
    ground.ledger.onCommit((sessionId) => void told.push(sessionId));
    const paused = await ground.apply({ type: "pause", mode: "detach" });
    expect(paused.state).toBe("paused");
    expect(told).toEqual(["s"]);
    expect(ground.home.logged).toMatchObject([
      {
        message: "what follows a commit failed",
        fields: { session: "s", why: expect.stringContaining("a careless listener") as string },
      },
    ]);
  } finally {
    await ground.dispose();
  }
});
