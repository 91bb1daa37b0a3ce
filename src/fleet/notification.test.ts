import { expect, test } from "vitest";
import { isWanted, notificationOf, type OpenedItem, type SessionLookup } from "./notification.ts";
import { channelOf, openedBody } from "./notification-fixture.ts";

const session = { id: "s1", name: "fix", role: "builder" };
const sessionOf: SessionLookup = (id) => (id === "s1" ? session : null);
const opened = (seq: number, body: OpenedItem["body"], sessionId: string | null = "s1"): OpenedItem => ({
  seq,
  at: 5,
  sessionId,
  caller: null,
  body,
});

test("one item is told whole", () => {
  expect(notificationOf({ id: "n-1", count: 1 }, [opened(1, openedBody("a"))], sessionOf)).toEqual({
    id: "n-1",
    kind: "failure",
    urgency: "failed",
    title: "fix: a failed",
    text: "What happened to a.",
    session,
    at: 5,
    count: 1,
    items: [{ id: "a", kind: "failure", urgency: "failed", title: "a failed", session }],
  });
});

test("several are counted, the most urgent first", () => {
  const events = Array.from({ length: 6 }, (_, at) => opened(at + 2, openedBody(`i${at + 1}`), null));
  const urgent = opened(9, openedBody("now", { urgency: "blocked", kind: "approval", title: "May it?" }));
  const first = opened(1, openedBody("i0"), null);
  const told = notificationOf({ id: "n-1", count: 30 }, [first, ...events, urgent], sessionOf);
  expect(told).toMatchObject({
    kind: "summary",
    urgency: "blocked",
    title: "30 things need you",
    text: "fix: May it?\ni0 failed\ni1 failed\ni2 failed\ni3 failed\nand 25 more: reeve inbox",
    session: null,
    count: 30,
  });
  expect(told.items).toHaveLength(8);
});

test("what an agent wrote is made plain and short", () => {
  const title = `\u001b[31mred\u001b[0m\nnext\u202e ${"x".repeat(500)}`;
  const told = notificationOf(
    { id: "n-1", count: 1 },
    [opened(1, openedBody("a", { title, text: `\u0007${"y".repeat(5_000)}` }))],
    sessionOf,
  );
  expect(told.title).toMatch(/^fix: red next<U\+202E> x+…$/);
  expect(Array.from(told.title)).toHaveLength(200);
  expect(told.text).toMatch(/^y+…$/);
  expect(Array.from(told.text)).toHaveLength(2_000);
});

test("kinds, urgencies and roles", () => {
  const item = opened(1, openedBody("a"));
  const wants = (wishes: Parameters<typeof channelOf>[1], about: typeof session | null = session): boolean =>
    isWanted(channelOf({ type: "bell" }, wishes), item, about);
  expect(wants({})).toBe(true);
  expect(wants({ kinds: ["approval"] })).toBe(false);
  expect(wants({ urgencies: ["blocked"] })).toBe(false);
  expect(wants({ roles: ["builder"] })).toBe(true);
  expect(wants({ roles: ["reviewer"] })).toBe(false);
  expect(wants({ mutedRoles: ["builder"] })).toBe(false);
  expect(wants({ roles: ["reviewer"], mutedRoles: ["builder"] }, null)).toBe(true);
});
