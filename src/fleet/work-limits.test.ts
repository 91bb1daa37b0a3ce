import { expect, test } from "vitest";
import { leftOf, oneFewer, requireRoomFor } from "./work-limits.ts";

const CODER = { agent: "codex", role: "coder" };
const TESTER = { agent: "claude", role: "tester" };

test.each([
  [{ machine: 2, byAgent: {}, byRole: {} }, "2 workers have an item of work", "[work]"],
  [{ machine: null, byAgent: { codex: 1 }, byRole: {} }, "1 worker of agent codex has", "[agent.codex]"],
  [{ machine: 9, byAgent: {}, byRole: { coder: 1 } }, "1 worker of role coder has", "[role.coder]"],
])("what is refused says which limit: %j", (most, why, where) => {
  expect(() => requireRoomFor(most, [CODER, TESTER], CODER)).toThrow(why);
  expect(() => requireRoomFor(most, [CODER, TESTER], CODER)).toThrow(`most_workers in ${where} of config.toml`);
});

test("a limit of none", () => {
  const none = { machine: 9, byAgent: {}, byRole: { coder: 0 } };
  expect(() => requireRoomFor(none, [], CODER)).toThrow(
    "0 workers of role coder have an item of work, and no more may",
  );
});

test("the limits of others say nothing", () => {
  const most = { machine: 3, byAgent: { claude: 1 }, byRole: { tester: 1 } };
  expect(() => requireRoomFor(most, [CODER, TESTER], CODER)).not.toThrow();
  expect(() => requireRoomFor(most, [CODER, TESTER], TESTER)).toThrow("agent claude");
});

test("what is left, and one fewer; items without a role are done in the default one", () => {
  const left = leftOf({ machine: 3, byAgent: { codex: 2 }, byRole: { agent: 2, tester: 1 } }, [
    { agent: "codex", role: "agent" },
    TESTER,
  ]);
  expect(left).toEqual({ workers: 1, byAgent: { codex: 1 }, byRole: { agent: 1, "": 1, tester: 0 } });
  expect(oneFewer(left, "codex", null)).toEqual({
    workers: 0,
    byAgent: { codex: 0 },
    byRole: { agent: 0, "": 0, tester: 0 },
  });
});
