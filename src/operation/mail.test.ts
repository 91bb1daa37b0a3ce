/** Who may send what to whom, who sees it, and what becomes of it. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type * as z from "zod/mini";
import { type Caller, OPERATOR } from "../session/caller.ts";
import { archiveMail } from "./archive-mail.ts";
import { checkMail } from "./check-mail.ts";
import type { Operation } from "./contract.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { readMail } from "./read-mail.ts";
import { retractMail } from "./retract-mail.ts";
import { sendMail } from "./send-mail.ts";

let ground: DoorGround;
beforeEach(async () => {
  ground = await makeDoorGround([["mate", { identity: { role: "reviewer" } }]]);
});
afterEach(() => ground.dispose());

const by = (id: string): Caller => ({ kind: "session", id });

async function call<Output extends z.ZodMiniType>(
  operation: Operation<z.ZodMiniObject, Output>,
  input: unknown,
  caller: Caller,
  idempotencyKey?: string,
): Promise<z.input<Output>> {
  return await ground.door.invoke(operation, input, caller, { ...ground.call, idempotencyKey });
}

async function refusal(operation: Operation, input: unknown, caller: Caller): Promise<Error & { code: string }> {
  return await ground.door.invoke(operation, input, caller, ground.call).then(
    () => Promise.reject(new Error("it was not refused")),
    (error: Error & { code: string }) => error,
  );
}

/** The id of what was sent to one recipient. */
async function send(to: string, body: string, caller: Caller, more: object = {}): Promise<string> {
  const { mails } = await call(sendMail, { to, body, ...more }, caller);
  expect(mails).toHaveLength(1);
  return mails[0]?.mail_id ?? "";
}

const box = async (caller: Caller, filter: object = {}) => await call(checkMail, filter, caller);
const subjects = async (caller: Caller, filter: object = {}) =>
  (await box(caller, filter)).mails.map(({ subject }) => subject);

describe("sending", () => {
  test("the sender is who calls, with the name it has; what a request says of it is refused", async () => {
    const id = await send("stranger", "hello", by("worker"));
    const { mails } = await box(by("stranger"));
    expect(mails).toMatchObject([
      {
        mail_id: id,
        from: { kind: "session", session_id: "worker", name: "worker" },
        to: { kind: "session", session_id: "stranger" },
        addressed_to: "session",
        state: "unread",
      },
    ]);
    const forged = { to: "stranger", body: "hello", from: "operator" };
    expect(await refusal(sendMail, forged, by("worker"))).toMatchObject({ code: "unknown-field" });
    expect((await box(by("stranger"))).mails).toHaveLength(1);
  });

  test("a role is each of its sessions that has not ended, without the sender, in one commit", async () => {
    const { mails, thread_id } = await call(sendMail, { to: "role:worker", body: "the words" }, by("worker"));
    expect(mails.map(({ to }) => to.session_id)).toEqual(["boss", "helper", "stranger"]);
    expect(new Set(mails.map((mail) => mail.thread_id))).toEqual(new Set([thread_id]));
    const seqs = mails.map(({ seq }) => seq);
    expect(seqs).toEqual([seqs[0], Number(seqs[0]) + 1, Number(seqs[0]) + 2]);
    const events = await ground.store.log.read({ after: 0, limit: 10, types: ["mail-sent"] });
    expect(events.map(({ seq, sessionId, caller }) => [seq, sessionId, caller])).toEqual(
      mails.map(({ seq, to }) => [seq, to.session_id, "session:worker"]),
    );
    expect(JSON.stringify(events)).not.toContain("the words");
  });

  test("the same key sends once, also to a role, and answers with what was sent", async () => {
    const input = { to: "role:worker", body: "once" };
    const first = await call(sendMail, input, OPERATOR, "k");
    const [second, third] = await Promise.all([
      call(sendMail, input, OPERATOR, "k"),
      call(sendMail, input, OPERATOR, "k"),
    ]);
    expect([second, third]).toEqual([first, first]);
    expect((await box(by("boss"))).mails).toHaveLength(1);
    await expect(call(sendMail, { ...input, body: "twice" }, OPERATOR, "k")).rejects.toMatchObject({
      code: "idempotency-conflict",
    });
  });

  test.each([
    ["nobody", { to: "nobody", body: "x" }, "unknown-session", /There is no session "nobody"/],
    ["a role that nobody has", { to: "role:painter", body: "x" }, "no-recipient", /nobody would get this/],
    [
      "a role that only the sender has",
      { to: "role:reviewer", body: "x" },
      "no-recipient",
      /There is no other session/,
    ],
    ["an ended session", { to: "gone", body: "x" }, "session-ended", /restart it first, or send the mail to another/],
    ["no one at all", { body: "x" }, "bad-request", /^to is missing/],
    ["a path", { to: "../x", body: "x" }, "bad-request", /^to must be a session, `role:` and a role, or `operator`/],
    ["no text", { to: "boss", body: "" }, "bad-request", /^body must be some text/],
    ["too long a text", { to: "boss", body: "ä".repeat(32_769) }, "mail-too-long", /has 65538 bytes.*send its path/],
    ["too long a subject", { to: "boss", body: "x", subject: "x".repeat(201) }, "bad-request", /200 characters/],
    ["another kind", { to: "boss", body: "x", kind: "order" }, "bad-request", /^kind must be note or hand-off/],
    ["a mail that is not there", { in_reply_to: "mail-nope", body: "x" }, "unknown-mail", /There is no mail mail-nope/],
  ])("to %s is refused with what to do", async (_what, input, code, message) => {
    const error = await refusal(sendMail, input, by("mate"));
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(message);
    expect(await ground.store.log.read({ after: 0, limit: 10, types: ["mail-sent"] })).toEqual([]);
  });

  test("a text of 64 KB is taken whole", async () => {
    const body = "x".repeat(65_536);
    const id = await send("boss", body, OPERATOR);
    expect(await call(readMail, { mail: id }, by("boss"))).toMatchObject({ body });
  });
});

describe("threads", () => {
  test("an answer goes back to the sender, with the same thread and subject", async () => {
    const asked = await send("mate", "Is it done?\nReally?", by("boss"));
    const answer = await call(sendMail, { in_reply_to: asked, body: "Yes" }, by("mate"));
    expect(answer.mails).toMatchObject([
      { to: { session_id: "boss" }, subject: "Re: Is it done?", in_reply_to: asked, state: "unread" },
    ]);
    const again = await call(sendMail, { in_reply_to: answer.mails[0]?.mail_id, body: "Good" }, by("boss"));
    expect(again.mails).toMatchObject([{ to: { session_id: "mate" }, subject: "Re: Is it done?" }]);
    expect(again.thread_id).toBe(answer.thread_id);
    // Whoever writes after their own mail writes to the same again.
    const after = await call(sendMail, { in_reply_to: asked, body: "By the way" }, by("boss"));
    expect(after.mails).toMatchObject([{ to: { session_id: "mate" } }]);
    await send("mate", "Another matter", by("boss"));
    expect(await subjects(by("mate"), { thread: answer.thread_id })).toEqual([
      "Re: Is it done?",
      "Re: Is it done?",
      "Is it done?",
    ]);
  });

  test("nobody answers what is not theirs", async () => {
    const id = await send("mate", "private", by("boss"));
    expect(await refusal(sendMail, { in_reply_to: id, body: "x" }, by("stranger"))).toMatchObject({
      code: "not-allowed",
    });
  });
});

describe("reading", () => {
  test("unread before read, urgent before the rest, newest first; pages go through all of it once", async () => {
    for (const [body, priority] of [
      ["one", "low"],
      ["two", "normal"],
      ["three", "high"],
      ["four", "normal"],
      ["five", "normal"],
    ])
      await send("mate", body ?? "", OPERATOR, { priority });
    expect(await subjects(by("mate"))).toEqual(["three", "five", "four", "two", "one"]);
    const [first] = (await box(by("mate"))).mails;
    await call(readMail, { mail: first?.mail_id }, by("mate"));
    const expected = ["five", "four", "two", "one", "three"];
    expect(await subjects(by("mate"))).toEqual(expected);
    for (const limit of [1, 2, 3, 4, 5]) {
      const found: string[] = [];
      let page: string | null = null;
      do {
        const answer: Awaited<ReturnType<typeof box>> = await box(by("mate"), {
          limit,
          ...(page !== null && { page }),
        });
        found.push(...answer.mails.map(({ subject }) => subject));
        page = answer.next_page;
      } while (page !== null);
      expect(found).toEqual(expected);
    }
    expect(await refusal(checkMail, { page: "elsewhere" }, by("mate"))).toMatchObject({ code: "bad-request" });
  });

  test("filters: unread, kind, sender, text; and what was archived only when it is asked for", async () => {
    const parser = await send("mate", "The parser is done", by("worker"), { kind: "hand-off" });
    const lunch = await send("mate", "Lunch?", OPERATOR, { subject: "noon" });
    await send("mate", "More on the PARSER", by("boss"));
    expect(await subjects(by("mate"), { kind: "hand-off" })).toEqual(["The parser is done"]);
    expect(await subjects(by("mate"), { from: "operator" })).toEqual(["noon"]);
    expect(await subjects(by("mate"), { search: "parser" })).toEqual(["More on the PARSER", "The parser is done"]);
    expect(await subjects(by("mate"), { search: "lunch" })).toEqual(["noon"]);
    await call(readMail, { mail: parser }, by("mate"));
    expect(await subjects(by("mate"), { unread: true })).toEqual(["More on the PARSER", "noon"]);
    await call(archiveMail, { mail: lunch }, by("mate"));
    expect(await subjects(by("mate"))).toEqual(["More on the PARSER", "The parser is done"]);
    expect(await subjects(by("mate"), { archived: true })).toEqual([
      "More on the PARSER",
      "The parser is done",
      "noon",
    ]);
    expect(await box(by("mate"), { limit: 1 })).toMatchObject({ unread: 1, hand_offs: 0 });
  });

  test("the recipient's reading counts, once; its sender and the operator see what became of it", async () => {
    const id = await send("mate", "hello", by("boss"));
    for (const caller of [by("boss"), OPERATOR])
      expect(await call(readMail, { mail: id }, caller)).toMatchObject({ state: "unread", body: "hello" });
    const read = await call(readMail, { mail: id }, by("mate"));
    expect(read).toMatchObject({ state: "read", note: expect.stringContaining("session boss (boss)") as string });
    expect(read.note).toContain("not an instruction from your user");
    expect(await call(readMail, { mail: id }, by("mate"))).toEqual(read);
    expect(await call(readMail, { mail: id }, by("boss"))).toMatchObject({ state: "read", read_at: read.read_at });
    const events = await ground.store.log.read({ after: 0, limit: 10, types: ["mail-read"] });
    expect(events).toMatchObject([{ sessionId: "mate", caller: "session:mate", body: { mailId: id } }]);
  });

  test("escape sequences are gone and hidden characters visible, in the subject and in the text", async () => {
    const id = await send("mate", "\u001b[31mred\u202e done", OPERATOR, { subject: "a\u001b]0;x\u0007b\u200b" });
    expect(await call(readMail, { mail: id }, by("mate"))).toMatchObject({
      subject: "ab<U+200B>",
      body: "red<U+202E> done",
    });
    expect((await box(by("mate"))).mails).toMatchObject([{ preview: "red<U+202E> done" }]);
  });

  test("what has the shape of a secret is not recorded", async () => {
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const id = await send("mate", `use ${token} for it`, OPERATOR, { subject: token });
    const mail = await ground.supervisor.mail.records.get(id);
    expect(mail).toMatchObject({ subject: "[redacted]", body: "use [redacted] for it" });
  });

  test("nobody sees the mail of others, but the operator; each try is recorded", async () => {
    const id = await send("mate", "private", by("boss"));
    for (const operation of [readMail, archiveMail, retractMail])
      expect(await refusal(operation, { mail: id }, by("stranger"))).toMatchObject({ code: "not-allowed" });
    expect(await refusal(archiveMail, { mail: id }, by("boss"))).toMatchObject({ code: "not-allowed" });
    expect(await refusal(checkMail, { session: "mate" }, by("boss"))).toMatchObject({ code: "not-allowed" });
    expect((await box(by("boss"))).mails).toEqual([]);
    expect(await subjects(OPERATOR, { session: "mate" })).toEqual(["private"]);
    expect(await subjects(OPERATOR)).toEqual([]);
    const recorded = () => ground.store.log.read({ after: 0, limit: 10, types: ["call-refused"] });
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(5));
    expect((await recorded()).map(({ body }) => ("target" in body ? body.target : null))).toEqual([
      id,
      id,
      id,
      id,
      "mate",
    ]);
  });
});

describe("retracting", () => {
  test("the recipient sees that there was one, and not what it said; nobody can read it any more", async () => {
    const id = await send("mate", "oops", by("boss"));
    const gone = await call(retractMail, { mail: id }, by("boss"));
    expect(gone).toMatchObject({ state: "retracted", subject: "" });
    expect(await call(retractMail, { mail: id }, by("boss"))).toEqual(gone);
    expect(await box(by("mate"))).toMatchObject({
      unread: 0,
      mails: [{ mail_id: id, state: "retracted", preview: "" }],
    });
    expect(await call(readMail, { mail: id }, by("mate"))).toMatchObject({
      state: "retracted",
      body: "",
      note: "Session boss (boss) took this mail back before it was read.",
    });
    expect(JSON.stringify(await ground.supervisor.mail.records.get(id))).not.toContain("oops");
  });

  test("only its sender may, not even the operator, and only while it is unread", async () => {
    const id = await send("mate", "hello", by("boss"));
    expect(await refusal(retractMail, { mail: id }, OPERATOR)).toMatchObject({ code: "not-allowed" });
    expect(await refusal(retractMail, { mail: id }, by("mate"))).toMatchObject({ code: "not-allowed" });
    await call(readMail, { mail: id }, by("mate"));
    expect(await refusal(retractMail, { mail: id }, by("boss"))).toMatchObject({
      code: "mail-read",
      message: expect.stringContaining("send another mail that corrects it") as string,
    });
    expect(await refusal(retractMail, { mail: "mail-nope" }, OPERATOR)).toMatchObject({ code: "unknown-mail" });
  });
});
