import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import { chosenPersistence } from "./chosen-persistence.ts";
import { parseSettings } from "./settings.ts";

const both = { captures: { native: true, proxy: true } };
const where = { settings: parseSettings(""), sessionDir: "/o/agents/agent/s-1", network: null };
const start = { agent: "codex", role: "agent" };

test("off unless somebody says otherwise: the start, its role, its agent, all sessions, in this order", () => {
  expect(chosenPersistence(start, both, where)).toBeNull();
  const on = { capture: "native", debugLog: null };
  expect(chosenPersistence({ ...start, persist_session: true }, both, where)).toEqual(on);
  const said = (text: string, changes = {}) =>
    chosenPersistence({ ...start, ...changes }, both, { ...where, settings: parseSettings(text) });
  expect(said("[sessions]\npersist_session = true")).toEqual(on);
  expect(said("[sessions]\npersist_session = true", { persist_session: false })).toBeNull();
  expect(said("[sessions]\npersist_session = true\n[agent.codex]\npersist_session = false")).toBeNull();
  expect(said("[agent.codex]\npersist_session = true")).toEqual(on);
  expect(said("[agent.codex]\npersist_session = true\n[role.agent]\npersist_session = false")).toBeNull();
  expect(() => parseSettings("[agent.codex]\npersist_session = 1")).toThrow(
    "[agent.codex] persist_session must be true or false",
  );
});

test.each([
  ["proxy", undefined, { native: true, proxy: true }, "proxy"],
  ["proxy", undefined, undefined, "proxy"],
  ["proxy", "proxy", { native: true, proxy: true }, "proxy"],
  ["proxy", "native", { native: true, proxy: true }, "capture-unavailable"],
  ["none", "proxy", { native: true, proxy: true }, "capture-unavailable"],
  ["none", undefined, { native: false, proxy: true }, "none"],
  ["full", "proxy", { native: true, proxy: true }, "proxy"],
] as const)(
  "in a container with network %s, asked for %s: %j is captured as %s",
  (network, capture, captures, expected) => {
    const choose = () =>
      chosenPersistence({ ...start, persist_session: true, capture }, captures === undefined ? {} : { captures }, {
        ...where,
        network,
      });
    expect(outcome(choose)).toBe(expected);
    expect(chosenPersistence(start, both, { ...where, network })).toBeNull();
  },
);

test.each([
  [{ native: true, proxy: true }, undefined, "native"],
  [{ native: true, proxy: true }, "proxy", "proxy"],
  [{ native: false, proxy: true }, undefined, "proxy"],
  [undefined, undefined, "none"],
  [undefined, "native", "capture-unavailable"],
  [{ native: false, proxy: true }, "native", "capture-unavailable"],
] as const)("an agent with %j, asked for %s: %s", (captures, capture, expected) => {
  const chosen = outcome(() =>
    chosenPersistence({ ...start, persist_session: true, capture }, captures === undefined ? {} : { captures }, where),
  );
  expect(chosen).toBe(expected);
});

test("what belongs to it is refused without it", () => {
  for (const more of [{ capture: "native" as const }, { debug_log: "x.log" }]) {
    expect(() => chosenPersistence({ ...start, ...more }, both, where)).toThrow(
      /belongs to --persist-session; add that/,
    );
    expect(() => chosenPersistence({ ...start, ...more, persist_session: false }, both, where)).toThrow(ReeveError);
  }
});

test.each([
  ["debug.log", "/o/agents/agent/s-1/debug.log"],
  ["logs/agent.log", "/o/agents/agent/s-1/logs/agent.log"],
  ["/var/tmp/x.log", "/var/tmp/x.log"],
  ["../x.log", "bad-debug-log"],
  [".", "bad-debug-log"],
  ["logs/", "bad-debug-log"],
  ["state.json", "bad-debug-log"],
  ["session.log.1", "bad-debug-log"],
  ["native/x", "bad-debug-log"],
  ["/o/agents/agent/s-1/session_meta.log", "bad-debug-log"],
])("--debug-log %s: %s", (debug_log, expected) => {
  const chosen = outcome(
    () => chosenPersistence({ ...start, persist_session: true, debug_log }, both, where),
    "debugLog",
  );
  expect(chosen).toBe(expected);
});

function outcome(choose: () => ReturnType<typeof chosenPersistence>, field: "capture" | "debugLog" = "capture") {
  try {
    return choose()?.[field];
  } catch (error) {
    return error instanceof ReeveError ? error.code : error;
  }
}
