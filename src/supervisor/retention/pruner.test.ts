import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { newMail } from "../../fleet/mail-fixture.ts";
import { removalKind } from "../../fleet/removal.ts";
import { workItem } from "../../fleet/work-fixture.ts";
import { workKind } from "../../fleet/work.ts";
import { worktreeKind } from "../../fleet/worktree.ts";
import { OPERATOR } from "../../session/caller.ts";
import { admitMessage, putSession, removeSession, settleMessage } from "../../store/change.ts";
import { makeMessage, momentAt } from "../../store/store-fixture.ts";
import { WAKE_REASONS } from "../../session/wake.ts";
import { exited } from "../fleet/waker-fixture.ts";
import { DAY, makePrunerGround, type PrunerGround, worktreeOf } from "../../../test/retention/pruner-fixture.ts";

let ground: PrunerGround;
beforeEach(async () => {
  ground = await makePrunerGround();
});
afterEach(() => ground.dispose());

const directoryOf = (id: string): string => join(ground.home.outputsRoot, "agents", "worker", id);

function stateOf(id: string): string {
  const path = join(directoryOf(id), "state.json");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

test("what ended long ago goes, with its directory, messages and state.json; the rest stays", async () => {
  await ground.end("old", 31 * DAY);
  await ground.end("young", 29 * DAY);
  await ground.live("busy");
  await ground.store.commit({ changes: [admitMessage(makeMessage("old", "m-1"))] });
  await ground.store.commit({
    changes: [settleMessage({ messageId: "m-1", state: "delivered", detail: null, moment: momentAt(1) })],
  });
  const dry = await ground.prune({}, true);
  expect(dry).toMatchObject({ sessions: 1, go: [{ session: { id: "old" }, excess: "age" }], stay: [] });
  expect(ground.ids()).toEqual(["old", "young", "busy"]);

  const { bytes } = await ground.prune();
  expect(bytes).toBeGreaterThan(0);
  expect(ground.ids()).toEqual(["young", "busy"]);
  expect(ground.store.mailbox.get("m-1")).toBeUndefined();
  expect(existsSync(directoryOf("old"))).toBe(false);
  expect(existsSync(join(directoryOf("young"), "output.log"))).toBe(true);
  expect(readdirSync(join(ground.home.outputsRoot, "removed"))).toEqual([]);
  expect(await ground.store.records(removalKind).list()).toEqual([]);
  expect(ground.removed).toEqual(["old"]);
  const told = await ground.store.log.read({ after: 0, limit: 100, types: ["pruned"] });
  expect(told).toMatchObject([{ caller: "operator", body: { type: "pruned", sessions: 1, events: 0 } }]);
  // Nothing is told of a run that removed nothing.
  await ground.prune();
  expect(await ground.store.log.read({ after: told[0]?.seq ?? 0, limit: 10 })).toEqual([]);
});

test("by number and by size, the oldest first", async () => {
  for (const [index, id] of ["a", "b", "c", "d"].entries()) await ground.end(id, (4 - index) * DAY);
  for (const id of ["b", "c", "d"]) writeFileSync(join(directoryOf(id), "output.log"), "x".repeat(100_000));
  const byNumber = await ground.prune({ endedSessions: 3 });
  expect(byNumber.go.map(({ session, excess }) => [session.id, excess])).toEqual([["a", "count"]]);
  const bySize = await ground.prune({ outputsBytes: 250_000 }, true);
  expect(bySize.go.map(({ session, excess }) => [session.id, excess])).toEqual([["b", "size"]]);
  expect(ground.ids()).toEqual(["b", "c", "d"]);
});

test("each veto keeps its session, and says why", async () => {
  const old = 40 * DAY;
  await ground.end("held", old, { wish: { held: { reason: "for review", until: null } } });
  await ground.end("held-until", old, { wish: { held: { reason: "for review", until: ground.now() + DAY } } });
  const since = { at: old, boot: "another", upMs: 0 };
  const hold = { reason: "for review", by: "operator", since, forMs: DAY, isEnding: false } as const;
  await ground.end("to-stay", old, { wish: { stay: hold } });
  await ground.end("held-before", old, { wish: { held: { reason: "for review", until: ground.now() - 1 } } });
  await ground.end("mailed", old);
  await ground.end("in-inbox", old);
  await ground.end("referenced", old);
  await ground.end("grandparent", old);
  await ground.end("parent", old, { identity: { parentId: "grandparent" } });
  await ground.live("child", { identity: { name: "child", parentId: "parent" } });
  await ground.live("boss", { identity: { name: "boss", hasTurns: true } });
  await ground.end("untold", old, { identity: { parentId: "boss", notify: WAKE_REASONS } });
  await ground.end("told", old, { identity: { parentId: "boss", notify: [] } });
  await ground.end("worktree", old);
  await ground.end("written-to", old);
  const elsewhere = await ground.end("elsewhere", old, {
    identity: { outputsDir: join(ground.home.directory, "elsewhere") },
  });
  await ground.store.commit({
    changes: [worktreeKind.put(worktreeOf("worktree")), admitMessage(makeMessage("written-to", "m-2"))],
    events: [{ sessionId: "untold", body: exited }],
  });
  await ground.post.send([newMail("mail-1", { to: "mailed" })], { caller: OPERATOR });
  ground.items.push({ sessionId: "in-inbox" });
  ground.references.set("referenced", "The work item 3 is open.");

  const { stay, go } = await ground.prune();
  expect(stay.map(({ session, veto }) => `${session.id}: ${veto.code}`).toSorted()).toEqual([
    "elsewhere: directory",
    "grandparent: living-descendant",
    "held-until: held",
    "held: held",
    "in-inbox: open-item",
    "mailed: unread-mail",
    "parent: living-descendant",
    "referenced: referenced",
    "to-stay: held",
    "untold: parent-untold",
    "worktree: worktree",
    "written-to: open-message",
  ]);
  expect(go.map(({ session }) => session.id).toSorted()).toEqual(["held-before", "told"]);
  expect(stay.find(({ session }) => session.id === "referenced")?.veto.why).toBe("The work item 3 is open.");
  await expect(ground.store.commit({ changes: [removeSession(elsewhere)] })).resolves.toEqual([]);
});

test("a session that is being exported stays until that is done", async () => {
  await ground.end("old", 40 * DAY);
  const written = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const exporting = ground.exports.run("old", async () => {
    begun.resolve();
    await written.promise;
  });
  await begun.promise;
  const { stay } = await ground.prune();
  expect(stay.map(({ session, veto }) => [session.id, veto.why])).toEqual([["old", "It is being exported."]]);
  expect(existsSync(join(directoryOf("old"), "output.log"))).toBe(true);
  written.resolve();
  await exporting;
  await ground.prune();
  expect(ground.ids()).toEqual([]);
});

test("unread mail keeps its session for a while longer, and is then put away", async () => {
  await ground.end("mailed", 40 * DAY);
  await ground.post.send([newMail("mail-1", { to: "mailed" })], { caller: OPERATOR });
  await ground.prune();
  expect(ground.ids()).toEqual(["mailed"]);
  ground.pass(60 * DAY);
  await ground.prune();
  expect(ground.ids()).toEqual([]);
  expect(ground.post.unread("mailed").unread).toBe(0);
  expect(await ground.post.records.get("mail-1")).toMatchObject({ state: "archived" });
  ground.pass(31 * DAY);
  expect(await ground.prune()).toMatchObject({ mails: 1 });
  expect(await ground.post.records.get("mail-1")).toBeUndefined();
});

test("mail that was read goes by age and number, unread mail never", async () => {
  await ground.live("busy");
  const mails = ["mail-1", "mail-2", "mail-3", "mail-4"].map((id) => newMail(id, { to: "busy", sentAt: ground.now() }));
  await ground.post.send(mails, { caller: OPERATOR });
  for (const id of ["mail-2", "mail-3", "mail-4"]) await ground.post.change(id, "read", OPERATOR);
  expect(await ground.prune({ mails: 3 })).toMatchObject({ mails: 1 });
  expect((await ground.post.records.list()).map(({ id }) => id)).toEqual(["mail-1", "mail-3", "mail-4"]);
  ground.pass(31 * DAY);
  expect(await ground.prune()).toMatchObject({ mails: 2 });
  expect((await ground.post.records.list()).map(({ id }) => id)).toEqual(["mail-1"]);
});

test("old events go; what living sessions need stays, and the log says up to where it is not whole", async () => {
  await ground.end("gone", 40 * DAY);
  await ground.live("busy");
  await ground.live("boss", { identity: { name: "boss", hasTurns: true } });
  await ground.end("untold", 40 * DAY, { identity: { parentId: "boss", notify: WAKE_REASONS } });
  await ground.store.commit({ events: [{ sessionId: "untold", body: exited }] });
  ground.pass(31 * DAY);
  await ground.store.commit({ events: [{ sessionId: null, body: { type: "daemon-stopped", pid: 1 } }] });
  expect(ground.store.log.prunedThrough()).toBe(0);
  const head = ground.store.log.head();
  await ground.prune();
  const left = await ground.store.log.read({ after: 0, limit: 100 });
  expect(left.map(({ sessionId, body }) => [sessionId, body.type])).toEqual([
    ["busy", "session-planned"],
    ["boss", "session-planned"],
    ["untold", "session-exited"],
    [null, "daemon-stopped"],
    [null, "pruned"],
  ]);
  expect(ground.store.log.prunedThrough()).toBe(4);
  expect(left.at(-1)?.seq).toBe(head + 1);
  expect(left.at(-1)?.body).toMatchObject({ events: 2, prunedThrough: 4 });
  // The next store knows it too.
  await ground.store.close();
  const next = await ground.home.open();
  expect(next.log.prunedThrough()).toBe(4);
});

test("by number, whatever their age", async () => {
  for (let pid = 1; pid <= 300; pid += 1)
    await ground.store.commit({ events: [{ sessionId: null, body: { type: "daemon-stopped", pid } }] });
  expect(await ground.prune({ events: 20 })).toMatchObject({ events: 280 });
  const left = await ground.store.log.read({ after: 0, limit: 1_000 });
  expect(left.map(({ seq }) => seq)).toEqual(Array.from({ length: 21 }, (_, index) => 281 + index));
});

test("a link is never followed", async () => {
  const outside = join(ground.home.directory, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "precious"), "mine");
  // One in the place of a directory, one inside of another, and one in the place of all of a role's.
  await ground.end("linked", 40 * DAY);
  await ground.end("inside", 40 * DAY);
  await ground.store.verified;
  // Whoever still writes into the directory would make it again between the next two lines.
  const { revision } = ground.store.registry.get("linked") ?? {};
  await eventually("its newest state is written", () => stateOf("linked").includes(`"revision":${revision},`));
  renameSync(directoryOf("linked"), join(outside, "linked"));
  symlinkSync(join(outside, "linked"), directoryOf("linked"));
  symlinkSync(outside, join(directoryOf("inside"), "link"));
  const { stay, go } = await ground.prune();
  expect(go.map(({ session }) => session.id)).toEqual(["inside"]);
  expect(stay).toMatchObject([{ session: { id: "linked" }, veto: { code: "directory" } }]);
  expect(existsSync(directoryOf("inside"))).toBe(false);
  expect(readdirSync(outside).toSorted()).toEqual(["linked", "precious"]);
  expect(existsSync(join(outside, "linked", "output.log"))).toBe(true);
});

test("one that comes back while it is chosen stays", async () => {
  const chosen = await ground.end("back", 40 * DAY);
  const other = await ground.end("other", 40 * DAY);
  // When it has been looked at, and before it is removed.
  const look = ground.references.get.bind(ground.references);
  let isChanged = false;
  ground.references.get = (id) => {
    if (id === "other" && !isChanged) {
      isChanged = true;
      void ground.ledger.commitFor("back", (session) => ({
        changes: [putSession({ ...session, revision: session.revision + 1 })],
      }));
    }
    return look(id);
  };
  const { go } = await ground.prune();
  expect(go.map(({ session }) => session.id)).toEqual([other.id]);
  expect(ground.store.registry.get(chosen.id)?.revision).toBe(2);
  expect(existsSync(directoryOf("back"))).toBe(true);
});

test("others are served between two steps, and no commit is long", async () => {
  for (let index = 0; index < 60; index += 1) await ground.end(`s-${index}`, 40 * DAY);
  let served = 0;
  const over = new AbortController();
  const serving = (async () => {
    while (!over.signal.aborted) {
      await ground.store.commit({ events: [{ sessionId: null, body: { type: "daemon-stopped", pid: 1 } }] });
      served += 1;
    }
  })();
  await ground.prune();
  over.abort();
  await serving;
  expect(ground.ids()).toEqual([]);
  // Sixteen at a time, three commits each.
  expect(served).toBeGreaterThan(6);
});

test("items of work go when they are done for long, but none that failed, is open, or is built on", async () => {
  const old = ground.now() - 100 * DAY;
  const states = ["pending", "done", "failed", "cancelled", "done"] as const;
  const items = states.map((state, at) => workItem({ id: `work-${at}-${state}`, state, changedAt: old }));
  const recent = workItem({ id: "work-recent", state: "done", changedAt: ground.now() - DAY });
  await ground.store.commit({ changes: [...items, recent].map((item) => workKind.put(item)) });
  ground.needed.add("work-4-done");
  expect(await ground.prune()).toMatchObject({ workItems: 2 });
  const left = await ground.store.records(workKind).list();
  expect(left.map(({ id }) => id)).toEqual(["work-0-pending", "work-2-failed", "work-4-done", "work-recent"]);
});
