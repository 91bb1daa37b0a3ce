/** Removing rows: what is held in memory follows, and the disk gets its space back. */
import { statSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRandom } from "../../test/truth/random.ts";
import { isEnded, type Session } from "../session/session.ts";
import { putSession, removeEvents, removeSession } from "./change.ts";
import { makeHome, makeSession, nextRevision, STARTED, type TestHome } from "./store-fixture.ts";

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

test("living sessions and children are what a look at all would find", async () => {
  const random = createRandom("registry");
  const store = await home.open();
  const check = (): void => {
    const all = store.registry.all();
    expect(store.registry.living()).toEqual(all.filter((session) => !isEnded(session)));
    for (const { id } of all)
      expect(store.registry.childrenOf(id).map((child) => child.id)).toEqual(
        all.filter(({ identity }) => identity.parentId === id).map((child) => child.id),
      );
  };
  for (let step = 0; step < 120; step += 1) {
    const all = store.registry.all();
    const chosen = all.length === 0 || random.chance(0.4) ? null : random.pick(all);
    if (chosen === null) {
      const parentId = all.length > 0 && random.chance(0.5) ? random.pick(all).id : null;
      await store.commit({ changes: [putSession(makeSession(home, `s-${step}`, { identity: { parentId } }))] });
    } else if (isEnded(chosen) && random.chance(0.5)) {
      await store.commit({ changes: [removeSession(chosen)] });
      expect(store.registry.get(chosen.id)).toBeUndefined();
      expect(store.registry.byName(chosen.identity.name)).toEqual([]);
    } else await store.commit({ changes: [putSession(turned(chosen))] });
    check();
  }
});

/** Ended, or back again. */
function turned(session: Session): Session {
  return isEnded(session)
    ? nextRevision(session, { state: "planned", wish: { desired: "running" } })
    : nextRevision(session, { state: "stopped", wish: { desired: "stopped" } });
}

test("another revision than the stored one is not removed", async () => {
  const store = await home.open();
  const session = makeSession(home, "a");
  await store.commit({ changes: [putSession(session)] });
  await store.commit({ changes: [putSession(nextRevision(session))] });
  await expect(store.commit({ changes: [removeSession(session)] })).rejects.toMatchObject({
    code: "revision-conflict",
  });
  expect(store.registry.get("a")?.revision).toBe(2);
});

test("a new database, and a small one of an earlier version, become smaller; the reserve stays", async () => {
  const reserveBytes = 256 * 1024;
  const store = await home.open({ reserveBytes });
  for (let batch = 0; batch < 20; batch += 1) {
    const events = Array.from({ length: 500 }, () => ({ sessionId: `s-${batch}`, body: STARTED }));
    await store.commit({ events });
  }
  const head = store.log.head();
  for (let from = 1; from < head; from += 500) {
    const seqs = Array.from({ length: Math.min(500, head - from) }, (_, index) => from + index);
    await store.commit({ changes: [removeEvents(seqs)] });
  }
  const before = statSync(home.databasePath).size;
  expect(await store.compact()).toBeGreaterThan(0);
  expect(await store.compact()).toBe(0);
  await store.close();
  const after = statSync(home.databasePath).size;
  expect(after).toBeLessThan(before);
  expect(after).toBeGreaterThan(reserveBytes);
  const next = await home.open({ reserveBytes });
  expect((await next.log.read({ after: 0, limit: 10 })).map(({ seq }) => seq)).toEqual([head]);
  expect(next.log.prunedThrough()).toBe(head - 1);
  expect(await next.commit({ events: [{ sessionId: null, body: STARTED }] })).toMatchObject([{ seq: head + 1 }]);
});
