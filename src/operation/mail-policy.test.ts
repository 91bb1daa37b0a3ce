/** Mail by policy, and how much may be unread. */
import { afterEach, expect, test, vi } from "vitest";
import { MAIL_POLICIES, type MailPolicy } from "../fleet/mail-policy.ts";
import { MOST_UNREAD, MOST_UNREAD_FROM_ONE } from "../fleet/unread-mail.ts";
import { type Caller, OPERATOR } from "../session/caller.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { readMail } from "./read-mail.ts";
import { sendMail } from "./send-mail.ts";

let ground: DoorGround;
afterEach(() => ground.dispose());

async function withPolicy(mail: MailPolicy): Promise<void> {
  ground = await makeDoorGround([], { settings: { mail } });
}

async function outcome(to: string, caller: Caller): Promise<string> {
  return await ground.door.invoke(sendMail, { to, body: "x" }, caller, ground.call).then(
    ({ mails }) => mails.map((mail) => mail.to.name ?? mail.to.kind).join(" "),
    (error: { readonly code: string }) => error.code,
  );
}

const worker: Caller = { kind: "session", id: "worker" };

test.each([
  ["any", ["boss", "helper", "stranger", "boss helper stranger", "operator"]],
  ["family", ["boss", "helper", "not-allowed", "boss helper", "operator"]],
  ["operator", ["not-allowed", "not-allowed", "not-allowed", "not-allowed", "operator"]],
] as const)(
  "with %s, a session may write to those and no others; each refusal is recorded",
  async (policy, expected) => {
    await withPolicy(policy);
    const recipients = ["boss", "helper", "stranger", "role:worker", "operator"];
    const outcomes: string[] = [];
    for (const to of recipients) outcomes.push(await outcome(to, worker));
    expect(outcomes).toEqual(expected);
    expect(await outcome("stranger", OPERATOR)).toBe("stranger");
    const refused = recipients.filter((_, at) => outcomes[at] === "not-allowed");
    const recorded = () => ground.store.log.read({ after: 0, limit: 10, types: ["call-refused"] });
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(refused.length));
    expect((await recorded()).map(({ caller, body }) => [caller, "target" in body ? body.target : null])).toEqual(
      refused.map((to) => ["session:worker", to]),
    );
  },
);

test.each(MAIL_POLICIES)("with %s, the names of those whom it may not write to are not told", async (policy) => {
  await withPolicy(policy);
  const told = await ground.door.invoke(sendMail, { to: "strangr", body: "x" }, worker, ground.call).then(
    () => "sent",
    (error: Error) => error.message,
  );
  expect(told.includes("stranger")).toBe(policy === "any");
});

test(
  "nobody uses up the room of another alone; who has too much unread gets nothing, and what is read makes room",
  { timeout: 60_000 },
  async () => {
    await withPolicy("any");
    const { door, call } = ground;
    const send = (caller: Caller) => door.invoke(sendMail, { to: "boss", body: "x" }, caller, call);
    const many = (caller: Caller, count: number) =>
      Promise.allSettled(Array.from({ length: count }, () => send(caller)));
    const taken = (await many(worker, MOST_UNREAD_FROM_ONE + 5)).filter(({ status }) => status === "fulfilled");
    expect(taken).toHaveLength(MOST_UNREAD_FROM_ONE);
    await expect(send(worker)).rejects.toMatchObject({
      code: "sender-full",
      message:
        "Session boss has 100 unread mails of yours and takes no more of them; wait until some are read, or retract some.",
    });
    const rest = (await many(OPERATOR, MOST_UNREAD)).filter(({ status }) => status === "fulfilled");
    expect(rest).toHaveLength(MOST_UNREAD - MOST_UNREAD_FROM_ONE);
    await expect(send(OPERATOR)).rejects.toMatchObject({ code: "recipient-full" });
    expect(ground.supervisor.mail.unread("boss").unread).toBe(MOST_UNREAD);
    const broadcast = door.invoke(sendMail, { to: "role:worker", body: "x" }, OPERATOR, call);
    await expect(broadcast).rejects.toMatchObject({ code: "recipient-full" });
    expect(ground.supervisor.mail.unread("helper").unread).toBe(0);
    const [first] = taken;
    const mail = first?.status === "fulfilled" ? first.value.mails[0]?.mail_id : "";
    await door.invoke(readMail, { mail }, { kind: "session", id: "boss" }, call);
    await send(worker);
    expect(ground.supervisor.mail.unread("boss").unread).toBe(MOST_UNREAD);
  },
);
