import { NO_RESTARTS } from "../session/restart-record.ts";
import { expect, test } from "vitest";
import { amend } from "../session/amend.ts";
import { evidence, place, plannedSession } from "../session/session-fixture.ts";
import { checkoutTaken, rivalOf, worksIn } from "./checkout-claim.ts";

const plain = { id: "a", name: "plain", branch: null };
const declared = { id: "b", name: "declared", branch: "main" };

test("a session that declares a branch has its checkout for itself; others share one", () => {
  expect([
    rivalOf({ id: "c", name: "c", branch: null }, [plain]),
    rivalOf({ id: "c", name: "c", branch: null }, [plain, declared]),
    rivalOf({ id: "c", name: "c", branch: "main" }, [plain]),
    rivalOf(declared, [declared]),
    rivalOf(declared, []),
  ]).toEqual([undefined, declared, plain, undefined, undefined]);
});

test("it has it from its request until its process is gone and will not come back", () => {
  const starting = plannedSession({ checkout: { root: "/work" } });
  const exit = { code: 1, signal: null, at: 1 };
  const dead = amend(starting, { process: { place, exit, liveness: { status: "exited", evidence } } });
  const due = amend(dead, { process: { restart: { ...NO_RESTARTS, dueAt: 5 } } });
  expect([worksIn(starting, "/work"), worksIn(starting, "/"), worksIn(dead, "/work"), worksIn(due, "/work")]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

test("says who is there, and what to do", () => {
  const claim = { id: "c", name: "c", branch: "main" };
  expect(checkoutTaken("/work", claim, declared, "do this").message).toBe(
    "Session declared already works in /work and declared branch main for it; do this.",
  );
  expect(checkoutTaken("/work", claim, plain, "do this")).toMatchObject({
    code: "checkout-taken",
    message:
      "Session plain already works in /work, so a session that declares branch main cannot have that checkout for itself; do this.",
    details: { session_id: "a" },
  });
});
