import { expect, test } from "vitest";
import { sessionView } from "./session-fixture.ts";
import { timedOut } from "./wait-text.ts";

const cursor = 7;

test("a wait that timed out says how to go on", () => {
  expect(timedOut({ cursor, session: sessionView({}) })).toBe(
    "Nothing happened in time; to wait on from here: --since 7.",
  );
});

test("of a session that waits for a usage limit it says that too", () => {
  const session = sessionView({
    name: "builder",
    need: "parked",
    headline: "Waits until 08:05 UTC: the limit is reached.",
  });
  expect(timedOut({ cursor, session })).toBe(
    "Nothing happened in time; to wait on from here: --since 7. builder: Waits until 08:05 UTC: the limit is reached.",
  );
});
