/**
 * Sessions at random, from seeds: they ask, stall, finish, fail, die and are
 * seen; the operator takes note and puts off; the daemon is killed and clocks
 * jump in between. What is open is what a simple model says, each thing is
 * opened once, and what was opened is closed or still so.
 */
import { expect, test } from "vitest";
import { createRandom } from "../../../test/truth/random.ts";
import type { Amendment } from "../../session/amend.ts";
import { OPERATOR } from "../../session/caller.ts";
import { approvalOf, died, type InboxGround, makeInboxGround, turnEnded } from "./inbox-fixture.ts";

const NAMES = ["a", "b", "c"];

/** What the test knows of a session: the kinds that it should have items of, by what they are about. */
type Needs = Map<string, string>;

const working = {
  status: "working",
  asks: null,
  evidence: { source: "hook", detail: "a hook", at: 1_000_000 },
} as const;

/** A random thing that happens to a session, and what it means for the model. */
function happen(
  ground: InboxGround,
  name: string,
  needs: Needs,
  random: ReturnType<typeof createRandom>,
): Amendment | null {
  const session = ground.session(name);
  const { conversation, process } = session;
  const without = (...kinds: readonly string[]): void => {
    for (const [about, kind] of needs) if (kinds.includes(kind)) needs.delete(about);
  };
  const isDead = process.exit !== null;
  switch (random.int(0, 8)) {
    case 0: {
      if (isDead) return null;
      const approval = approvalOf(`q${session.revision}`, ground.clock.now());
      needs.set(approval.id, "approval");
      return { conversation: { approvals: [...conversation.approvals, approval] } };
    }
    case 1: {
      const [first, ...others] = conversation.approvals;
      if (first === undefined) return null;
      needs.delete(first.id);
      return { conversation: { approvals: others } };
    }
    case 2: {
      if (isDead) return null;
      without("finished", "failure", "stall");
      const verdict = random.pick(["completed", "failed"] as const);
      needs.set("turn", verdict === "completed" ? "finished" : "failure");
      const ended = turnEnded(session, verdict, "model-error");
      return { ...ended, conversation: { ...ended.conversation, stalledAt: null } };
    }
    case 3:
      if (isDead) return null;
      without("finished", "failure", "stall");
      return { conversation: { turnOpen: true, activity: working, stalledAt: null } };
    case 4:
      if (!conversation.turnOpen || conversation.stalledAt !== null || isDead) return null;
      needs.set("stall", "stall");
      return { conversation: { stalledAt: ground.clock.now() } };
    case 5:
      // A dead session stays a failure, whoever has seen it.
      if (needs.get("turn") !== undefined) needs.delete("turn");
      return { notice: { seenRevision: session.revision + 1 } };
    case 6: {
      if (isDead) return null;
      const isRetried = random.chance(0.5);
      needs.delete("turn");
      without("approval", "stall");
      if (!isRetried) needs.set("death", "failure");
      const { conversation: _none, ...death } = died(session, 1, {
        dueAt: isRetried ? ground.clock.now() + 1_000 : null,
      });
      needs.delete("branch");
      return { ...death, conversation: { approvals: [], stalledAt: null, turnOpen: false, lastTurn: null } };
    }
    case 7:
      if (!isDead) return null;
      needs.delete("death");
      if (session.checkout.mismatchAt !== null) needs.set("branch", "branch-mismatch");
      return {
        state: "running",
        process: {
          exit: null,
          failure: null,
          incarnation: process.incarnation + 1,
          restart: { ...process.restart, dueAt: null },
        },
        notice: { seenRevision: session.revision + 1 },
      };
    default: {
      const isOff = session.checkout.mismatchAt === null;
      if (isOff && !isDead) needs.set("branch", "branch-mismatch");
      else needs.delete("branch");
      return { checkout: { mismatchAt: isOff ? ground.clock.now() : null } };
    }
  }
}

/** Follows the events: nothing is opened that is open, or closed that is not. */
async function openByEvents(ground: InboxGround): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  /** Told again only after somebody took note of it or put it off, or once when it is overdue. */
  const quiet = new Set<string>();
  const overdue = new Set<string>();
  for (const event of await ground.told()) {
    const id = event.itemId;
    switch (event.type) {
      case "inbox-opened": {
        const isLate = event.kind === "overdue-approval" && !overdue.has(id);
        expect(open.has(id) && !quiet.has(id) && !isLate, `${event.title} is opened twice`).toBe(false);
        if (isLate) overdue.add(id);
        open.add(id);
        quiet.delete(id);
        break;
      }
      case "inbox-closed":
        expect(open.delete(id), "closed, and was not open").toBe(true);
        break;
      default:
        expect(open.has(id)).toBe(true);
        quiet.add(id);
    }
  }
  return open;
}

test.each(Array.from({ length: 12 }, (_, index) => `seed ${index}`))("the inbox, %s", async (seed) => {
  const random = createRandom(seed);
  const ground = await makeInboxGround(NAMES);
  const needs = new Map(NAMES.map((name) => [name, new Map<string, string>()]));
  const wish = { caller: OPERATOR };
  try {
    for (let step = 0; step < 80; step++) {
      const name = random.pick(NAMES);
      const items = ground.inbox().items();
      switch (random.int(0, 11)) {
        case 0:
          await ground.restart();
          break;
        case 1:
          if (items.length > 0) await ground.inbox().acknowledge(random.pick(items).id, wish);
          break;
        case 2:
          if (items.length > 0) {
            const untilAt = ground.clock.now() + random.int(1, 60_000);
            await ground.inbox().snooze(random.pick(items).id, untilAt, wish);
          }
          break;
        case 3:
          ground.clock.jump(random.int(-7_200_000, 7_200_000));
          break;
        case 4:
          await ground.clock.advance(random.int(1, 30_000));
          break;
        default: {
          const change = happen(ground, name, needs.get(name) ?? new Map(), random);
          if (change !== null) await ground.change(name, change);
        }
      }
      if (random.chance(0.7)) await ground.inbox().settled();
    }
    const open = await openByEvents(ground);
    const items = ground.inbox().items();
    expect(new Set(items.map(({ id }) => id))).toEqual(open);
    const kindsOf = (name: string): readonly string[] =>
      items
        .filter(({ sessionId }) => sessionId === name)
        .map(({ kind }) => kind.replace("overdue-", ""))
        .toSorted();
    expect(NAMES.map((name) => [name, kindsOf(name)])).toEqual(
      NAMES.map((name) => [name, [...(needs.get(name)?.values() ?? [])].toSorted()]),
    );
    const numbers = [...items, ...(await ground.inbox().closed(1_000))].map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
  } finally {
    await ground.dispose();
  }
});
