/** kill -9 of the daemon around mail: sent once, read once, retracted once, whenever it dies. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorOf, startSleeper } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let reader: SessionRow;
let other: SessionRow;
let count = 0;
beforeAll(async () => {
  home = createTestHome();
  reader = await startSleeper(home, "reader", "--role", "reading");
  other = await startSleeper(home, "other", "--role", "reading");
});
afterAll(() => home.dispose());

const boxOf = async (session: SessionRow) =>
  await operatorOf(home).checkMail({ session: session.session_id, limit: 200 });

async function eventsOf(mailId: string): Promise<readonly string[]> {
  return (await home.events()).filter(({ data }) => data["mail_id"] === mailId).map(({ type }) => type);
}

test.each(["mail.before-commit", "store.before-commit", "store.after-commit", "mail.after-commit"])(
  "killed at %s: each recipient has it once",
  async (point) => {
    const body = `mail ${++count}`;
    await crashingAt(home, point, async () => void (await home.json("mail", "send", "role:reading", body)));
    for (const session of [reader, other]) {
      const { mails, unread } = await boxOf(session);
      expect(mails.filter(({ preview }) => preview === body)).toHaveLength(1);
      expect(unread).toBe(mails.filter(({ state }) => state === "unread").length);
    }
    const sent = (await home.events()).filter(({ type }) => type === "mail-sent").map(({ data }) => data["mail_id"]);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent).toHaveLength(2 * count);
    await expectEventLogComplete(home);
  },
);

test.each([
  ["mail-retract.before-commit", "retract", "retracted"],
  ["mail-retract.after-commit", "retract", "retracted"],
  ["mail-archive.before-commit", "archive", "archived"],
  ["mail-archive.after-commit", "archive", "archived"],
] as const)("killed at %s: done once", async (point, action, state) => {
  const client = operatorOf(home);
  const { mails } = await client.sendMail({ to: "reader", body: "to be settled" });
  const mail = mails[0]?.mail_id ?? "";
  const { unread } = await boxOf(reader);
  await crashingAt(home, point, async () => void (await home.json("mail", action, mail)));
  expect(await client.readMail({ mail })).toMatchObject({ state });
  expect(await eventsOf(mail)).toEqual(["mail-sent", `mail-${state}`]);
  expect((await boxOf(reader)).unread).toBe(unread - 1);
});

test.each(["mail-read.before-commit", "mail-read.after-commit"])("killed at %s: read once", async (point) => {
  const client = operatorOf(home);
  const { mails } = await client.sendMail({ to: "operator", body: "for me" });
  const mail = mails[0]?.mail_id ?? "";
  await crashingAt(home, point, async () => {
    expect(await client.readMail({ mail })).toMatchObject({ state: "read", body: "for me" });
  });
  expect(await eventsOf(mail)).toEqual(["mail-sent", "mail-read"]);
  expect((await client.checkMail()).unread).toBe(0);
});
