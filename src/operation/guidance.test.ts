/** What is said to do next is about what the session does, and not idle whatever else is not known. */
import { expect, test } from "vitest";
import { evidence, plannedSession } from "../session/session-fixture.ts";
import type { ActivityStatus } from "../session/session.ts";
import { guidanceOf } from "./guidance.ts";

const doing = (status: ActivityStatus): string =>
  guidanceOf(
    plannedSession({
      conversation: { activity: { status, asks: null, evidence } },
      watch: { observability: { status: "observable", expected: true, reason: "it is there", transcriptPath: "/t" } },
    }),
    "idle",
  );

test("only one that is idle is called so", () => {
  expect(doing("idle")).toBe("It is idle: send it a message, or end it.");
  expect(doing("starting")).toMatch(/^It is starting: wait for its notification\b/);
  expect(doing("working")).toMatch(/^It is at work: wait for its notification\b/);
  expect(doing("unknown")).toMatch(/^It is not known what it does: read its screen\b/);
});
