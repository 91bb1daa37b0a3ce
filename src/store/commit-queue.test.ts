import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../session/session.ts";
import { admitMessage, putSession, settleMessage } from "./change.ts";
import { readStateFile } from "./state-file.ts";
import { makeHome, makeMessage, makeSession, nextRevision, STARTED, type TestHome, momentAt } from "./store-fixture.ts";

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

describe("group commit", () => {
  test("changes of one turn share one transaction, in order", async () => {
    const store = await home.open();
    const batches: number[] = [];
    store.log.follow((events) => batches.push(events.length));
    const results = await Promise.all(
      Array.from({ length: 250 }, (_, index) => store.commit({ events: [{ sessionId: `s-${index}`, body: STARTED }] })),
    );
    expect(batches).toEqual([250]);
    expect(results.map(([event]) => [event?.seq, event?.sessionId])).toEqual(
      results.map((_, index) => [index + 1, `s-${index}`]),
    );
    await store.commit({ events: [{ sessionId: null, body: STARTED }] });
    expect(batches).toEqual([250, 1]);
  });

  test("one bad change is refused alone, with nothing of it kept", async () => {
    const store = await home.open();
    const commits = [
      store.commit({ changes: [putSession(makeSession(home, "a"))], events: [{ sessionId: "a", body: STARTED }] }),
      store.commit({
        changes: [admitMessage(makeMessage("nobody", "m0"))],
        events: [{ sessionId: "x", body: STARTED }],
      }),
      store.commit({
        changes: [putSession(makeSession(home, "a", { identity: { name: "usurper" } }))],
        events: [{ sessionId: "x", body: STARTED }],
      }),
      store.commit({
        changes: [settleMessage({ messageId: "none", state: "delivered", detail: null, moment: momentAt(1) })],
      }),
      store.commit({ changes: [putSession(makeSession(home, "b"))] }),
    ];
    const outcomes = await Promise.allSettled(commits);
    expect(
      outcomes.map((outcome) => (outcome.status === "fulfilled" ? "kept" : (outcome.reason as { code: string }).code)),
    ).toEqual(["kept", "change-refused", "revision-conflict", "message-not-open", "kept"]);
    expect(store.registry.all().map(({ identity: { name } }) => name)).toEqual(["name-a", "name-b"]);
    expect((await store.log.read({ after: 0, limit: 9 })).map(({ sessionId }) => sessionId)).toEqual(["a"]);
  });

  test("a change that builds on a refused one of the same turn is refused as well", async () => {
    const store = await home.open();
    const session = makeSession(home, "a");
    const bad = store.commit({ changes: [putSession(session), admitMessage(makeMessage("nobody", "m"))] });
    const next = store.commit({ changes: [putSession(nextRevision(session))] });
    expect((await Promise.allSettled([bad, next])).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(store.registry.get("a")).toBeUndefined();
  });

  test.each([0, 1, 3, 4, 9])("stored revision 2, offered %i: refused", async (revision) => {
    const store = await home.open();
    const first = makeSession(home, "a");
    const second = nextRevision(first);
    await store.commit({ changes: [putSession(first)] });
    await store.commit({ changes: [putSession(second)] });
    const offered = store.commit({ changes: [putSession({ ...first, revision })] });
    if (revision === 3) await expect(offered).resolves.toEqual([]);
    else await expect(offered).rejects.toMatchObject({ code: "revision-conflict", kind: "internal" });
    expect(store.registry.get("a")?.revision).toBe(revision === 3 ? 3 : 2);
  });

  test("whoever passes on what somebody waits for hears of it before all others", async () => {
    const store = await home.open();
    const heard: string[] = [];
    store.log.follow(() => heard.push("works with it"));
    store.log.follow(() => heard.push("passes it on"), "first");
    await store.commit({ events: [{ sessionId: null, body: STARTED }] });
    expect(heard).toEqual(["passes it on", "works with it"]);
  });

  test("nothing is visible before it is durable, and rows are there when followers hear of them", async () => {
    const store = await home.open();
    const seen: unknown[] = [];
    store.log.follow(() => seen.push(store.registry.get("a")?.revision));
    store.log.follow(() => {
      throw new Error("a careless follower");
    });
    const commit = store.commit({
      changes: [putSession(makeSession(home, "a"))],
      events: [{ sessionId: "a", body: STARTED }],
    });
    expect([store.registry.get("a"), store.log.head()]).toEqual([undefined, 0]);
    await commit;
    expect(seen).toEqual([1]);
  });

  test("close writes what is queued; later changes are refused", async () => {
    const store = await home.open();
    const queued = store.commit({ changes: [putSession(makeSession(home, "a"))] });
    await Promise.all([store.close(), store.close()]);
    await expect(queued).resolves.toEqual([]);
    await expect(store.commit({})).rejects.toMatchObject({ code: "store-closed" });
    expect((await home.open()).registry.get("a")?.revision).toBe(1);
  });
});

describe("one commit of changes of several records", () => {
  test("is kept as a whole, each change building on those before it", async () => {
    const store = await home.open();
    const [a, b] = [
      makeSession(home, "a", { identity: { name: "one" } }),
      makeSession(home, "b", { identity: { name: "two" } }),
    ];
    const ended = nextRevision(a, { wish: { desired: "stopped" }, state: "stopped" });
    const heir = nextRevision(b, { identity: { name: "one" } });
    await store.commit({
      changes: [
        putSession(a),
        putSession(b),
        admitMessage(makeMessage("a", "m1")),
        admitMessage(makeMessage("b", "m2")),
        settleMessage({ messageId: "m1", state: "refused", detail: "it ended", moment: momentAt(5) }),
        putSession(ended),
        putSession(heir),
      ],
    });
    const view = (of: typeof store) => [of.registry.all(), of.mailbox.get("m1")?.state, of.mailbox.open("b").length];
    expect(view(store)).toEqual([[ended, heir], "refused", 1]);
    await store.close();
    expect(view(await home.open())).toEqual([[ended, heir], "refused", 1]);
    expect((await readStateFile(heir.identity.outputsDir)).status).toBe("good");
  });

  test.each([
    ["a revision that is stored already", (held: Session) => putSession(held)],
    [
      "a name that an earlier change of it took",
      () => putSession(makeSession(home, "c", { identity: { name: "new" } })),
    ],
    ["a message to nobody", () => admitMessage(makeMessage("nobody", "m9"))],
    [
      "a message that is not there",
      () => settleMessage({ messageId: "m9", state: "leased", detail: null, moment: momentAt(1) }),
    ],
  ])("is refused as a whole for %s", async (_what, bad) => {
    const store = await home.open();
    const held = makeSession(home, "a");
    await store.commit({ changes: [putSession(held)] });
    const offered = store.commit({
      changes: [
        putSession(nextRevision(held)),
        putSession(makeSession(home, "b", { identity: { name: "new" } })),
        admitMessage(makeMessage("a", "m1")),
        bad(held),
      ],
      events: [{ sessionId: "a", body: STARTED }],
      idempotency: { key: "k", operation: "o", fingerprint: "f", subject: "a", at: Date.now() },
    });
    await expect(offered).rejects.toMatchObject({ name: "ReeveError" });
    const view = (of: typeof store) => [of.registry.all(), of.mailbox.open("a"), of.log.head(), of.idempotency("k")];
    expect(view(store)).toEqual([[held], [], 0, undefined]);
    await store.close();
    expect(view(await home.open())).toEqual([[held], [], 0, undefined]);
  });
});
