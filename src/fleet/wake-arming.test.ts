import { expect, test } from "vitest";
import { OPERATOR } from "../session/caller.ts";
import { plannedSession } from "../session/session-fixture.ts";
import { WAKE_REASONS } from "../session/wake.ts";
import { armedFor, notificationsOf, wakeRouteOf } from "./wake-arming.ts";

const boss = plannedSession({ id: "boss", identity: { name: "boss" } });
const codex = plannedSession({ id: "codex", watch: { socket: "/run/codex.sock" } });
const shell = plannedSession({ id: "shell", identity: { name: "shell", agent: "command", hasTurns: false } });
const ended = plannedSession({ id: "gone", state: "stopped", wish: { desired: "stopped" } });
const ownCaller = { kind: "session", id: "boss" } as const;

test("how a session can be woken", () => {
  expect([boss, codex, shell, ended].map(wakeRouteOf)).toEqual(["typed", "turn", "none", "none"]);
});

test("what a session starts wakes it for everything, unless it asks otherwise", () => {
  const request = { parent: boss, caller: ownCaller, isEnabled: true };
  expect(armedFor({ ...request, asked: undefined })).toEqual(WAKE_REASONS);
  expect(armedFor({ ...request, asked: [] })).toEqual([]);
  expect(armedFor({ ...request, asked: ["exited", "turn-failed"] })).toEqual(["turn-failed", "exited"]);
});

test("what the operator starts wakes nobody, unless it asks for that", () => {
  const request = { parent: boss, caller: OPERATOR, isEnabled: true };
  expect(armedFor({ ...request, asked: undefined })).toEqual([]);
  expect(armedFor({ ...request, asked: ["exited"] })).toEqual(["exited"]);
  expect(armedFor({ ...request, parent: undefined, asked: undefined })).toEqual([]);
});

test("nothing is armed that could not arrive", () => {
  const request = { caller: ownCaller, asked: undefined, isEnabled: true };
  expect(armedFor({ ...request, parent: shell })).toEqual([]);
  expect(armedFor({ ...request, parent: ended })).toEqual([]);
  expect(armedFor({ ...request, parent: boss, isEnabled: false })).toEqual([]);
});

test("the answer of a start says how it arrives, or why not", () => {
  const child = plannedSession({ identity: { parentId: "boss", notify: ["exited"] } });
  expect(notificationsOf(child, boss, true)).toEqual({
    armed: ["exited"],
    to: "boss",
    by: "typed",
    why: "Session boss gets one line typed into it when it is idle.",
  });
  expect(notificationsOf(child, codex, true)).toMatchObject({ armed: ["exited"], to: "codex", by: "turn" });
  expect(notificationsOf(child, boss, false)).toMatchObject({ armed: [], by: "none" });
  expect(notificationsOf(child, ended, true)).toMatchObject({ armed: [], to: "gone", by: "none" });
  expect(notificationsOf(plannedSession(), undefined, true)).toMatchObject({ armed: [], to: null, by: "none" });
  expect(notificationsOf(plannedSession(), boss, true)).toMatchObject({ armed: [], to: "boss", by: "none" });
  expect(notificationsOf(child, shell, true).why).toContain("does not say when it is idle");
});
