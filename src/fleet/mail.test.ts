import { describe, expect, test } from "vitest";
import {
  boxOf,
  changedMail,
  clipped,
  type Mail,
  type MailChange,
  mailKind,
  mayRetract,
  posted,
  replySubject,
  sentEvent,
  subjectOf,
} from "./mail.ts";
import { mailWith, newMail } from "./mail-fixture.ts";
import { MAIL_POLICIES, mayMailSession } from "./mail-policy.ts";

const AT = 1_700_000_000_500;

function after(mail: Mail, ...changes: readonly MailChange[]): Mail {
  return changes.reduce((now, change) => changedMail(now, change, AT)?.mail ?? now, mail);
}

describe("the record", () => {
  test("begins unread, with the number of its event, and is stored by box, recipient and priority", () => {
    const mail = posted(newMail("mail-a", { priority: "high" }), 17);
    expect(mail).toMatchObject({ revision: 1, seq: 17, state: "unread", readAt: null });
    expect(mailKind.put(mail)).toMatchObject({ name: "mail", id: "mail-a", group: "unread/beta/high" });
    expect(mailKind.put(after(mail, "read")).group).toBe("kept/beta/high");
    expect(mailKind.put(after(mail, "retract")).group).toBe("kept/beta/high");
    expect(mailKind.put(after(mail, "archive")).group).toBe("archived/beta/high");
  });

  test("is checked when it is read: whatever is missing or of another type is refused", () => {
    const mail = mailWith("mail-a", 1);
    expect(mailKind.parse(JSON.parse(JSON.stringify(mail)))).toEqual(mail);
    for (const [field, value] of Object.entries({
      to: 1,
      state: "lost",
      kind: "order",
      seq: -1,
      from: "me",
      body: null,
    }))
      expect(() => mailKind.parse({ ...mail, [field]: value })).toThrow("it does not describe a mail");
    const { subject: _subject, ...without } = mail;
    expect(() => mailKind.parse(without)).toThrow("it does not describe a mail");
  });

  test("its event tells who sent what kind, and nothing of what it says", () => {
    const event = sentEvent(newMail("mail-a", { subject: "SECRET", body: "SECRET", kind: "hand-off" }));
    expect(event).toEqual({
      type: "mail-sent",
      mailId: "mail-a",
      thread: "thread-a",
      to: "beta",
      from: "session:alpha",
      fromName: "builder",
      kind: "hand-off",
      priority: "normal",
    });
  });
});

describe("what becomes of it", () => {
  test("is read once, then archived, each with its time and its event", () => {
    const mail = mailWith("mail-a", 1);
    const read = changedMail(mail, "read", AT);
    expect(read).toMatchObject({ mail: { revision: 2, state: "read", readAt: AT }, event: { type: "mail-read" } });
    expect(changedMail(after(mail, "read"), "read", AT)).toBeNull();
    const archived = changedMail(after(mail, "read"), "archive", AT);
    expect(archived).toMatchObject({
      mail: { revision: 3, state: "archived", readAt: AT, archivedAt: AT },
      event: { type: "mail-archived", to: "beta" },
    });
    expect(changedMail(after(mail, "read", "archive"), "archive", AT)).toBeNull();
    expect(after(mail, "archive", "read")).toMatchObject({ state: "archived", readAt: null });
  });

  test("is retracted only while it is unread, and nothing of it is kept", () => {
    const mail = mailWith("mail-a", 1);
    expect(after(mail, "retract")).toMatchObject({ state: "retracted", subject: "", body: "", retractedAt: AT });
    expect(mayRetract(mail)).toBe(true);
    expect(mayRetract(after(mail, "retract"))).toBe(true);
    for (const changes of [["read"], ["archive"], ["read", "archive"]] as const) {
      expect(mayRetract(after(mail, ...changes))).toBe(false);
      expect(changedMail(after(mail, ...changes), "retract", AT)).toBeNull();
    }
    expect(after(mail, "retract", "read", "archive")).toMatchObject({ state: "retracted", body: "", archivedAt: AT });
    expect(boxOf(after(mail, "retract", "archive"))).toBe("archived");
  });
});

test("a subject that was not given is how the text begins; of an answer, that of what it answers", () => {
  expect(subjectOf("\n  Hello there \nand more")).toBe("Hello there");
  expect(subjectOf("x".repeat(100))).toBe(`${"x".repeat(71)}…`);
  expect(clipped("😀😀😀", 2)).toBe("😀…");
  expect(replySubject("The parser")).toBe("Re: The parser");
  expect(replySubject("re: The parser")).toBe("re: The parser");
  expect(replySubject("x".repeat(200))).toHaveLength(200);
});

test("the policy decides by the families of the two", () => {
  const same = { sender: "boss", recipient: "boss" };
  const other = { sender: "boss", recipient: "stranger" };
  expect(MAIL_POLICIES.map((policy) => [policy, mayMailSession(policy, same), mayMailSession(policy, other)])).toEqual([
    ["any", true, true],
    ["family", true, false],
    ["operator", false, false],
  ]);
});
