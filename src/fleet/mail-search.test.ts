import { expect, test } from "vitest";
import { mailWith } from "./mail-fixture.ts";
import { groupsOf, isWanted, type MailSearch, pageEnd, pageName } from "./mail-search.ts";

const all: MailSearch = { recipient: "beta", isUnreadOnly: false, hasArchived: false };

test("unread comes before what was read, urgent before the rest; archived only when it is asked for", () => {
  const [unread, kept, archived] = ["unread", "kept", "archived"].map((box) =>
    ["high", "normal", "low"].map((priority) => `${box}/beta/${priority}`),
  );
  expect(groupsOf(all)).toEqual([...(unread ?? []), ...(kept ?? [])]);
  expect(groupsOf({ ...all, isUnreadOnly: true, hasArchived: true })).toEqual(unread);
  expect(groupsOf({ ...all, hasArchived: true }).slice(6)).toEqual(archived);
});

test("each filter leaves out what does not fit", () => {
  const mail = mailWith("mail-a", 1, { kind: "hand-off", subject: "The PARSER", body: "is done" });
  const fits = (filter: Partial<MailSearch>): boolean => isWanted({ ...all, ...filter })(mail);
  expect(fits({})).toBe(true);
  expect([fits({ kind: "hand-off" }), fits({ kind: "note" })]).toEqual([true, false]);
  expect([fits({ thread: "thread-a" }), fits({ thread: "thread-b" })]).toEqual([true, false]);
  expect([fits({ from: "alpha" }), fits({ from: "builder" }), fits({ from: "session:alpha" })]).toEqual([
    true,
    true,
    true,
  ]);
  expect([fits({ from: "operator" }), fits({ from: "alp" })]).toEqual([false, false]);
  expect([fits({ text: "parser" }), fits({ text: "IS DONE" }), fits({ text: "tests" })]).toEqual([true, true, false]);
  expect(fits({ kind: "hand-off", text: "tests" })).toBe(false);
});

test("a page is named by where it ended, and nothing else names one", () => {
  expect(pageEnd(pageName({ group: 4, place: 123 }))).toEqual({ group: 4, place: 123 });
  for (const name of ["", "4", "a-1", "1-", "-1-2", "1-2-3", "1-9999999999999999"]) expect(pageEnd(name)).toBeNull();
});
