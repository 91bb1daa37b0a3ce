/** The operator's inbox follows the sessions' records: one item for one thing, across daemons and clock jumps. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Condition } from "../../fleet/inbox.ts";
import { OPERATOR } from "../../session/caller.ts";
import { forgetOldest } from "./closed-items.ts";
import { approvalOf, died, type InboxGround, makeInboxGround, turnEnded, overdue } from "./inbox-fixture.ts";

let ground: InboxGround;
const wish = { caller: OPERATOR };
const MINUTE = 60_000;

beforeEach(async () => {
  ground = await makeInboxGround(["one", "two"]);
});
afterEach(() => ground.dispose());

const types = async (): Promise<readonly string[]> => (await ground.told()).map(({ type }) => type.slice(6));
const asks = (id: string, ...approvals: readonly string[]): Promise<void> =>
  ground.change(id, {
    conversation: {
      approvals: approvals.map((approval) => approvalOf(approval, 1_000_000)),
      activity: {
        status: approvals.length === 0 ? "working" : "awaiting-approval",
        asks: null,
        evidence: { source: "hook", detail: "a hook", at: 1_000_000 },
      },
    },
  });
async function only(): Promise<ReturnType<ReturnType<InboxGround["inbox"]>["items"]>[number]> {
  await ground.inbox().settled();
  const [item, ...others] = ground.inbox().items();
  if (item === undefined || others.length > 0) throw new Error(`there are ${others.length + (item ? 1 : 0)} items`);
  return item;
}

describe("what is asked", () => {
  test("an approval is one item, which says enough alone, and closes when it is answered", async () => {
    await asks("one", "a");
    const item = await only();
    expect(item).toMatchObject({
      number: 1,
      kind: "approval",
      urgency: "blocked",
      title: "one asks: Run a",
      happened: "It asks before it goes on: rm -r a. In /work.",
      answers: ["approve", "deny", "end", "acknowledge", "snooze"],
      approvalId: "a",
    });
    await asks("one");
    expect(await ground.told()).toEqual([
      {
        type: "inbox-opened",
        itemId: item.id,
        kind: "approval",
        urgency: "blocked",
        title: item.title,
        text: `${item.happened} Reeve did not answer for you; the agent waits. Approve or deny it.`,
      },
      { type: "inbox-closed", itemId: item.id, kind: "approval", why: "It was answered, or is not asked any more." },
    ]);
    expect((await ground.inbox().closed(10)).map(({ id }) => id)).toEqual([item.id]);
  });

  test("what is answered before anybody could look is no item", async () => {
    await asks("one", "a");
    await asks("one");
    await ground.clock.advance(1_000);
    expect(await types()).toEqual([]);
  });

  test("it opens within a moment, without being asked for", async () => {
    await asks("one", "a");
    await ground.clock.advance(100);
    await ground.inbox().settled();
    expect(ground.inbox().items()).toHaveLength(1);
  });

  test("what cannot be recorded is tried again, and is there once then", async () => {
    ground.refuse(2);
    await asks("one", "a");
    await ground.inbox().settled();
    expect(ground.inbox().items()).toEqual([]);
    await ground.clock.advance(25_000);
    expect(await only()).toMatchObject({ number: 1, state: "open" });
    expect(await types()).toEqual(["opened"]);
  });

  test("two questions are two items; an item keeps its number, and no number comes back", async () => {
    await asks("one", "a", "b");
    await ground.inbox().settled();
    await asks("one", "b");
    expect((await only()).number).toBe(2);
    await asks("one", "b", "c");
    await ground.inbox().settled();
    await ground.restart();
    await asks("two", "d");
    await ground.inbox().settled();
    expect(
      ground
        .inbox()
        .items()
        .map(({ number, approvalId }) => [number, approvalId]),
    ).toEqual([
      [2, "b"],
      [3, "c"],
      [4, "d"],
    ]);
  });

  test("one that waits too long is told again, as the same item; also if it was acknowledged", async () => {
    await asks("one", "a");
    const { id } = await only();
    await ground.inbox().acknowledge(id, wish);
    await ground.change("one", overdue(ground.session("one"), 15 * MINUTE));
    expect(await only()).toMatchObject({ id, number: 1, kind: "overdue-approval", state: "open" });
    expect((await only()).title).toBe("one still asks, for more than 15 minutes: Run a");
    await ground.restart();
    await ground.clock.advance(30 * MINUTE);
    expect(await types()).toEqual(["opened", "acknowledged", "opened"]);
  });

  test("time alone makes nothing overdue: its time-out does, which counts across daemons", async () => {
    await asks("one", "a");
    for (const hours of [2, -2, 2]) {
      await ground.clock.advance(20 * MINUTE);
      ground.clock.jump(hours * 60 * MINUTE);
    }
    await ground.restart();
    expect((await only()).kind).toBe("approval");
    await ground.change("one", overdue(ground.session("one"), 15 * MINUTE));
    expect((await only()).kind).toBe("overdue-approval");
  });
});

describe("what failed and what finished", () => {
  test("a crash loop is one item, when Reeve gives up", async () => {
    const restarted = { at: 1, boot: "one", upMs: 1, cause: "own", isOvercome: false } as const;
    for (let death = 0; death < 10; death++) {
      await ground.change("one", died(ground.session("one"), 1, { dueAt: 5_000_000 }));
      await ground.inbox().settled();
      await ground.change("one", {
        state: "starting",
        process: {
          exit: null,
          failure: null,
          incarnation: ground.session("one").process.incarnation + 1,
          restart: {
            ...ground.session("one").process.restart,
            dueAt: null,
            recent: Array.from({ length: death + 1 }, () => restarted),
          },
        },
      });
      await ground.inbox().settled();
    }
    await ground.change("one", {
      ...died(ground.session("one"), 1),
      reason: { ...ground.session("one").reason, code: "restarts-exhausted", text: "It died too often." },
    });
    expect(await types()).toEqual(["opened"]);
    expect(await only()).toMatchObject({
      kind: "failure",
      urgency: "failed",
      title: "one failed: It died too often.",
      did: "Reeve started it again 10 times, and gave up.",
      suggests: "Look at its data, then restart it.",
    });
  });

  test("a finished turn is told once: not again after it was seen, or after a restart of either", async () => {
    await ground.change("one", turnEnded(ground.session("one"), "completed"));
    expect(await only()).toMatchObject({ kind: "finished", newsRevision: 2 });
    await ground.change("one", { notice: { seenRevision: 2 } });
    await ground.inbox().settled();
    await ground.change("one", { notice: { newsRevision: ground.session("one").revision + 1 } });
    await ground.restart();
    expect(await ground.told()).toMatchObject([{ type: "inbox-opened" }, { why: "It was seen." }]);
  });

  test("of a worker, whoever started it is told that it finished; a person is told that it failed", async () => {
    await ground.change("one", { identity: { parentId: "two", notify: ["turn-completed", "exited"] } });
    await ground.change("one", turnEnded(ground.session("one"), "completed"));
    await ground.inbox().settled();
    await ground.change("one", turnEnded(ground.session("one"), "failed", "model-error"));
    expect(await ground.told()).toMatchObject([{ kind: "failure", title: "one failed a turn: The model said no." }]);
  });

  test("but if whoever started it was ended, a person is told that it finished", async () => {
    await ground.change("one", { identity: { parentId: "two", notify: ["turn-completed"] } });
    await ground.change("one", turnEnded(ground.session("one"), "completed"));
    expect(await ground.told()).toEqual([]);
    await ground.change("two", { state: "stopped", wish: { desired: "stopped" } });
    expect(await ground.told()).toMatchObject([{ kind: "finished" }]);
  });

  test("a limit that stopped a turn is about the account, not about the session", async () => {
    await ground.change("one", turnEnded(ground.session("one"), "failed", "rate-limit"));
    await ground.change("two", turnEnded(ground.session("two"), "failed", "quota-exhausted"));
    expect(await ground.told()).toEqual([]);
  });

  test("the end of a session closes everything of it", async () => {
    await ground.change("one", { checkout: { mismatchAt: 5, policy: "pause" } });
    await asks("one", "a");
    await ground.inbox().settled();
    await ground.change("one", { wish: { desired: "stopped" } });
    const told = await ground.told();
    expect(told.slice(2)).toMatchObject([{ why: "The session was ended." }, { why: "The session was ended." }]);
    expect(ground.inbox().items()).toEqual([]);
  });
});

describe("put off and taken note of", () => {
  test("a snoozed item comes back when it is due, and is told again", async () => {
    await asks("one", "a");
    const { id } = await only();
    const untilAt = ground.clock.now() + 5 * MINUTE;
    await ground.inbox().snooze(id, untilAt, wish);
    ground.clock.jump(3 * 60 * MINUTE);
    await ground.clock.advance(4 * MINUTE);
    expect((await only()).state).toBe("snoozed");
    await ground.clock.advance(2 * MINUTE);
    expect(await only()).toMatchObject({ id, number: 1, state: "open", snoozed: null });
    expect(await types()).toEqual(["opened", "snoozed", "opened"]);
  });

  test("also with the next daemon, never later than was asked for, and not if it is over", async () => {
    await asks("one", "a");
    await asks("two", "b");
    await ground.inbox().settled();
    const untilAt = ground.clock.now() + 5 * MINUTE;
    for (const { id } of ground.inbox().items()) await ground.inbox().snooze(id, untilAt, wish);
    ground.clock.jump(-24 * 60 * MINUTE);
    await ground.restart();
    await asks("two");
    await ground.clock.advance(5 * MINUTE + 10_000);
    expect(await only()).toMatchObject({ sessionId: "one", state: "open" });
    expect(await types()).toEqual(["opened", "opened", "snoozed", "snoozed", "closed", "opened"]);
  });

  test("put off, it becomes overdue without a word, and comes back as that", async () => {
    await asks("one", "a");
    const { id } = await only();
    await ground.inbox().snooze(id, ground.clock.now() + 20 * MINUTE, wish);
    await ground.clock.advance(16 * MINUTE);
    await ground.change("one", overdue(ground.session("one"), 15 * MINUTE));
    expect(await only()).toMatchObject({ state: "snoozed", kind: "overdue-approval" });
    expect(await types()).toEqual(["opened", "snoozed"]);
    await ground.clock.advance(5 * MINUTE);
    expect((await ground.told()).at(-1)).toMatchObject({ type: "inbox-opened", kind: "overdue-approval" });
  });

  test("to acknowledge twice is to do it once", async () => {
    await asks("one", "a");
    const { id } = await only();
    expect(await ground.inbox().acknowledge(id, wish)).toMatchObject({ state: "acknowledged" });
    expect(await ground.inbox().acknowledge(id, wish)).toMatchObject({ state: "acknowledged" });
    expect(await types()).toEqual(["opened", "acknowledged"]);
    expect(await ground.inbox().acknowledge("inbox-none", wish)).toBeUndefined();
  });
});

describe("what is over", () => {
  test("the last are kept, and found by number; older ones are forgotten", async () => {
    for (let round = 1; round <= 5; round++) {
      await asks("one", `a${round}`);
      await ground.inbox().settled();
      await asks("one");
      await ground.inbox().settled();
    }
    await forgetOldest(ground.store, 3);
    expect((await ground.inbox().closed(10)).map(({ number }) => number)).toEqual([5, 4, 3]);
    expect(await ground.inbox().find("4")).toMatchObject({ state: "closed", approvalId: "a4" });
    expect(await ground.inbox().find("1")).toBeUndefined();
    await asks("one", "b");
    expect((await only()).number).toBe(6);
  });
});

describe("the home", () => {
  const disk: Condition = {
    id: "inbox-disk",
    sessionId: null,
    kind: "disk",
    urgency: "other",
    title: "The disk fills up",
    happened: "",
    did: "",
    suggests: "",
    answers: ["acknowledge", "snooze"],
    approvalId: null,
    newsRevision: 0,
    sinceAt: 1,
  };

  test("a disk is one item that becomes worse, better and comes back; before it is looked at, nothing is judged", async () => {
    ground.setHome([{ condition: disk }]);
    await ground.inbox().settled();
    ground.setHome([{ condition: { ...disk, urgency: "blocked" } }]);
    await ground.inbox().settled();
    ground.setHome([{ condition: disk }]);
    await ground.inbox().settled();
    ground.setHome(null);
    await ground.restart();
    await ground.inbox().settled();
    ground.setHome([]);
    await ground.inbox().settled();
    ground.setHome([{ condition: disk }]);
    expect(await types()).toEqual(["opened", "opened", "closed", "opened"]);
    expect(await only()).toMatchObject({ number: 1, urgency: "other", state: "open" });
  });
});
