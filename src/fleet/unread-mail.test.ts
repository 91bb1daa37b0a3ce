import fc from "fast-check";
import { expect, test } from "vitest";
import type { LoggedEvent } from "../session/event.ts";
import { changedMail, type Mail, type MailChange, sentEvent } from "./mail.ts";
import { mailWith, newMail } from "./mail-fixture.ts";
import { createUnreadIndex, MOST_UNREAD, MOST_UNREAD_FROM_ONE } from "./unread-mail.ts";

function logged(seq: number, body: LoggedEvent["body"]): LoggedEvent {
  return { seq, at: 1, sessionId: "beta", caller: "operator", body };
}

const sent = (seq: number, id: string, changes: Parameters<typeof newMail>[1] = {}): LoggedEvent =>
  logged(seq, sentEvent(newMail(id, changes)));

test("counts what is unread, what of it is a hand-off, and knows its newest event", () => {
  const index = createUnreadIndex();
  expect(index.count("beta")).toEqual({ unread: 0, handOffs: 0, newestSeq: 0 });
  index.follow([sent(5, "a"), sent(6, "b", { kind: "hand-off" }), sent(7, "c", { to: "operator" })]);
  expect(index.count("beta")).toEqual({ unread: 2, handOffs: 1, newestSeq: 6 });
  expect(index.count("operator")).toEqual({ unread: 1, handOffs: 0, newestSeq: 7 });
  expect(index.list("beta").map(({ mailId, seq, kind }) => [mailId, seq, kind])).toEqual([
    ["a", 5, "note"],
    ["b", 6, "hand-off"],
  ]);
  index.follow([logged(8, { type: "mail-read", mailId: "b", thread: "thread-a", to: "beta" })]);
  expect(index.count("beta")).toEqual({ unread: 1, handOffs: 0, newestSeq: 5 });
  index.follow([logged(9, { type: "mail-retracted", mailId: "a", thread: "thread-a", to: "beta" })]);
  expect(index.count("beta")).toEqual({ unread: 0, handOffs: 0, newestSeq: 0 });
});

test("a mail that was loaded and is told again counts once", () => {
  const index = createUnreadIndex();
  index.add(mailWith("a", 5));
  index.follow([sent(5, "a")]);
  expect(index.count("beta").unread).toBe(1);
});

test("is full for everybody at its limit, and for one session before that; promises count", () => {
  const index = createUnreadIndex();
  const keep = Array.from({ length: MOST_UNREAD_FROM_ONE }, () => index.promise("beta", "session:alpha"));
  expect(index.fullness("beta", "session:alpha")).toBe("sender-full");
  expect(index.fullness("beta", "session:other")).toBeNull();
  expect(index.fullness("beta", "operator")).toBeNull();
  for (const done of keep) done();
  for (const done of keep) done();
  expect(index.fullness("beta", "session:alpha")).toBeNull();
  index.follow(
    Array.from({ length: MOST_UNREAD }, (_, at) =>
      sent(at + 1, `m-${at}`, { from: { caller: "operator", name: null } }),
    ),
  );
  expect(index.fullness("beta", "session:other")).toBe("recipient-full");
  expect(index.fullness("beta", "operator")).toBe("recipient-full");
  expect(index.fullness("gamma", "operator")).toBeNull();
});

test("whatever happens, the count is what the records say", () => {
  const step = fc.tuple(
    fc.constantFrom<MailChange | "send">("send", "send", "read", "archive", "retract"),
    fc.nat(20),
    fc.constantFrom("beta", "gamma", "operator"),
    fc.constantFrom<Mail["kind"]>("note", "hand-off"),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const index = createUnreadIndex();
      const mails = new Map<string, Mail>();
      for (const [at, [what, which, to, kind]] of steps.entries()) {
        const seq = at + 1;
        if (what === "send") {
          const id = `mail-${seq}`;
          mails.set(id, mailWith(id, seq, { to, kind, sentAt: sent(seq, id, { to, kind }).at }));
          index.follow([sent(seq, id, { to, kind })]);
          continue;
        }
        const mail = [...mails.values()][which % Math.max(1, mails.size)];
        const changed = mail === undefined ? null : changedMail(mail, what, seq);
        if (changed === null) continue;
        mails.set(changed.mail.id, changed.mail);
        index.follow([logged(seq, changed.event)]);
      }
      const loaded = createUnreadIndex();
      const unread = [...mails.values()].filter(({ state }) => state === "unread");
      for (const mail of unread.toReversed()) loaded.add(mail);
      for (const to of ["beta", "gamma", "operator"]) {
        const own = unread.filter((mail) => mail.to === to);
        expect(index.count(to)).toEqual({
          unread: own.length,
          handOffs: own.filter(({ kind }) => kind === "hand-off").length,
          newestSeq: own.at(-1)?.seq ?? 0,
        });
        expect(loaded.count(to)).toEqual(index.count(to));
        expect(loaded.list(to)).toEqual(index.list(to));
      }
    }),
  );
});
