import { afterEach, beforeEach, expect, test } from "vitest";
import { newMail } from "../../fleet/mail-fixture.ts";
import { systemClock } from "../../platform/clock.ts";
import { defineKind, type Kept } from "../../session/record-kind.ts";
import { OPERATOR } from "../../session/caller.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, type TestHome } from "../../store/store-fixture.ts";
import { createPost, type Post } from "./post.ts";

let home: TestHome;
let store: Store;
beforeEach(async () => {
  home = makeHome();
  store = await home.open();
});
afterEach(() => home.remove());

const openPost = (): Post => createPost({ store, clock: systemClock, log: home.log });
const wish = { caller: OPERATOR };

test("whoever hears of a mail finds it counted", async () => {
  const post = openPost();
  const counted: number[] = [];
  store.log.follow((events) => {
    for (const { body } of events) if ("to" in body) counted.push(post.unread(body.to).unread);
  });
  await post.send([newMail("mail-a"), newMail("mail-b", { to: "gamma" })], wish);
  await post.change("mail-a", "read", OPERATOR);
  // Both of the first commit are counted before either is told.
  expect(counted).toEqual([1, 1, 0]);
});

test("two changes of one mail at once are done one after another, and the same one once", async () => {
  const post = openPost();
  await post.send([newMail("mail-a")], wish);
  const outcomes = await Promise.allSettled([
    post.change("mail-a", "read", OPERATOR),
    post.change("mail-a", "retract", OPERATOR),
    post.change("mail-a", "read", OPERATOR),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await post.records.get("mail-a")).toMatchObject({ state: "read", revision: 2, body: "It is done." });
});

test("the next daemon counts what is unread, page after page, and leaves out what it cannot read", async () => {
  const before = openPost();
  const mails = Array.from({ length: 250 }, (_, at) =>
    newMail(`mail-${at}`, { from: { caller: "operator", name: null } }),
  );
  await before.send(mails, wish);
  await before.send([newMail("mail-x", { to: "operator", kind: "hand-off" })], wish);
  await before.change("mail-7", "read", OPERATOR);
  await before.change("mail-8", "archive", OPERATOR);
  await before.change("mail-9", "retract", OPERATOR);
  const broken = defineKind<Kept>({
    name: "mail",
    parse: (value) => value as Kept,
    groupOf: () => "unread/delta/high",
  });
  await store.commit({ changes: [broken.put({ id: "mail-broken", revision: 1 })] });
  const after = openPost();
  await after.load();
  expect(after.unread("beta")).toEqual(before.unread("beta"));
  // The event has a clock of its own: a few milliseconds lie between.
  const ageless = (post: typeof after) => post.unreadMails("beta").map((mail) => ({ ...mail, sentAt: 0 }));
  expect(ageless(after)).toEqual(ageless(before));
  expect(after.unread("beta")).toMatchObject({ unread: 247, newestSeq: 250 });
  expect(after.unread("operator")).toEqual({ unread: 1, handOffs: 1, newestSeq: 251 });
  expect(after.unread("delta").unread).toBe(0);
  expect(home.logged.map(({ message }) => message)).toContain("unread mail is not counted");
});
