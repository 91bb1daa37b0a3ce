/**
 * Random homes against a plain model: whatever is pruned, nothing that must stay
 * goes, everything else that is too old does, and nothing else is touched.
 */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { createRandom, type Random } from "../../../test/truth/random.ts";
import { newMail } from "../../fleet/mail-fixture.ts";
import { worktreeKind } from "../../fleet/worktree.ts";
import { OPERATOR } from "../../session/caller.ts";
import { WAKE_REASONS } from "../../session/wake.ts";
import { admitMessage } from "../../store/change.ts";
import { makeMessage } from "../../store/store-fixture.ts";
import { exited } from "../fleet/waker-fixture.ts";
import { DAY, makePrunerGround, type PrunerGround, worktreeOf } from "../../../test/retention/pruner-fixture.ts";

interface Member {
  readonly id: string;
  readonly parentId: string | null;
  readonly isEnded: boolean;
  readonly endedAt: number;
  /** Anything of its own that keeps it. */
  readonly hasReason: boolean;
  /** Its living parent is to be woken for it. */
  readonly isUntold: boolean;
}

async function makeMember(ground: PrunerGround, random: Random, before: readonly Member[]): Promise<Member> {
  const id = `s-${before.length}`;
  const isEnded = random.chance(0.8);
  const ago = random.int(0, 60) * DAY + 1_000;
  const endedAt = ground.now() - ago;
  const parent = before.length > 0 && random.chance(0.5) ? random.pick(before) : null;
  const notify = random.chance(0.5) ? WAKE_REASONS : [];
  const kept = random.chance(0.4)
    ? random.pick(["held", "mail", "item", "reference", "worktree", "message"] as const)
    : null;
  const identity = { name: id, parentId: parent?.id ?? null, notify };
  const held = kept === "held" ? { reason: "for review", until: null } : null;
  if (isEnded) await ground.end(id, ago, { identity, wish: { desired: "stopped", held } });
  else await ground.live(id, { identity, wish: { held } });
  if (kept === "mail") await ground.post.send([newMail(`mail-${id}`, { to: id })], { caller: OPERATOR });
  if (kept === "item") ground.items.push({ sessionId: id });
  if (kept === "reference") ground.references.set(id, `Something open needs ${id}.`);
  if (kept === "worktree") await ground.store.commit({ changes: [worktreeKind.put(worktreeOf(id))] });
  if (kept === "message") await ground.store.commit({ changes: [admitMessage(makeMessage(id, `m-${id}`))] });
  const isUntold = random.chance(0.3);
  if (isUntold) await ground.store.commit({ events: [{ sessionId: id, body: exited }] });
  return {
    id,
    parentId: parent?.id ?? null,
    isEnded,
    endedAt,
    hasReason: kept !== null,
    isUntold: isUntold && notify.length > 0 && parent !== null && !parent.isEnded,
  };
}

function hasLivingBelow(members: readonly Member[], id: string): boolean {
  return members.some((one) => one.parentId === id && (!one.isEnded || hasLivingBelow(members, one.id)));
}

test.each(Array.from({ length: 12 }, (_, seed) => seed))("nothing that is needed is removed, seed %i", async (seed) => {
  const random = createRandom(`retention ${seed}`);
  const ground = await makePrunerGround();
  try {
    let members: readonly Member[] = [];
    const size = random.int(5, 25);
    while (members.length < size) members = [...members, await makeMember(ground, random, members)];
    const days = random.int(0, 50);
    const most = random.int(0, 20);
    const stays = (one: Member): boolean =>
      !one.isEnded || one.hasReason || one.isUntold || hasLivingBelow(members, one.id);
    const free = members.filter((one) => !stays(one)).toSorted((one, two) => two.endedAt - one.endedAt);
    const expected = new Set(
      free.filter(({ endedAt }, rank) => endedAt <= ground.now() - days * DAY || rank >= most).map(({ id }) => id),
    );
    const settings = { endedMs: days * DAY, endedSessions: most, unreadMailMs: 1_000 * DAY, eventsMs: 0 };
    const planned = await ground.prune(settings, true);
    expect(new Set(planned.go.map(({ session }) => session.id))).toEqual(expected);
    // Whoever is looked at again is as it was.
    expect(ground.ids()).toHaveLength(members.length);
    await ground.prune(settings);
    expect(ground.ids()).toEqual(members.map(({ id }) => id).filter((id) => !expected.has(id)));
    for (const { id } of members) {
      const directory = `${ground.home.outputsRoot}/agents/worker/${id}`;
      expect(existsSync(directory), id).toBe(!expected.has(id));
    }
    // What living sessions are to be woken for is still told.
    for (const one of members.filter(({ isUntold }) => isUntold)) {
      const parent = ground.store.registry.get(one.parentId ?? "");
      const due = parent === undefined ? [] : (await ground.waker.due(parent)).events;
      expect(due.map(({ sessionId }) => sessionId)).toContain(one.id);
    }
    expect(ground.store.registry.living().length).toBe(
      ground.store.registry.all().filter(({ wish }) => wish.desired !== "stopped").length,
    );
  } finally {
    await ground.dispose();
  }
});
