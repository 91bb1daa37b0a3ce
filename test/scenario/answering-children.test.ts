/** A session answers what the sessions it started ask, and never its own question. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { insideOf } from "../support/session-caller.ts";
import type { EventRow, Result, SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
let parent: SessionRow;
let asParent: Readonly<Record<string, string>>;
let child = "";
let count = 0;
beforeAll(async () => {
  home = createTestHome();
  parent = await home.json<SessionRow>("start", "command", "--name", "parent", "--", "sleep", "600");
  asParent = await insideOf(home, parent);
});
afterAll(() => home.dispose());

/** One that asks; the parent started it. */
beforeEach(async () => {
  child = `child-${++count}`;
  expect(await within(asParent, "start", "practice", "--name", child, "ask rm -r build")).toMatchObject({ status: 0 });
  await becomes(child, "awaiting-approval");
});

const within = (environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Result> =>
  home.run(args, { environment });

const becomes = (name: string, activity: string): Promise<SessionRow> =>
  eventually(`${name} is ${activity}`, async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === activity && session;
  });

async function told(name: string, type: string): Promise<readonly EventRow[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", name);
  return events.filter((event) => event.type === type);
}

test.each([
  ["approve", "approved", 'I ran "rm -r build".'],
  ["deny", "denied", 'I did not run "rm -r build".'],
])("%s: it takes effect in the child, and the log says who it was", async (verb, decision, reply) => {
  const listed = await within(asParent, "approvals", "--json");
  const { approvals } = JSON.parse(listed.stdout) as { approvals: { session_name: string; answerable: boolean }[] };
  expect(approvals).toContainEqual(expect.objectContaining({ session_name: child, answerable: true }));
  const answered = await within(asParent, verb, child, "--json", "--wait");
  expect(answered.status, answered.stderr).toBe(0);
  const by = `session:${parent.session_id}`;
  expect(JSON.parse(answered.stdout)).toMatchObject({ state: "settled", decision, by, reason: "turn-completed" });
  expect((await within(asParent, "data", child, "--last")).stdout).toContain(reply);
  expect(await told(child, "approval-answer-requested")).toMatchObject([{ caller: by, data: { decision } }]);
  expect(await told(child, "approval-settled")).toMatchObject([{ data: { by, decision } }]);
});

test("its own question: refused and recorded, and a message to itself does not answer it either", async () => {
  const session = await becomes(child, "awaiting-approval");
  const asChild = await insideOf(home, session);
  const refused = await within(asChild, "approve", child);
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain(`Session ${child} may not call answer_approval on ${child}`);
  const recorded = await eventually("it is recorded", async () => {
    const refusals = await told(child, "call-refused");
    return refusals.length > 0 && refusals;
  });
  expect(recorded).toMatchObject([
    { caller: `session:${session.session_id}`, data: { operation: "answer_approval", target: child } },
  ]);
  expect((await within(asChild, "approvals")).stdout).toContain("The operator answers it, or a session above yours");

  const sent = await within(asChild, "send", child, "y", "--timeout", "0", "--json");
  expect(JSON.parse(sent.stdout)).toMatchObject({ state: "admitted" });
  // The parent's answer is the one that counts, and then its own word is a prompt like any other.
  expect((await within(asParent, "deny", child)).status).toBe(0);
  const settled = await eventually("its word was a prompt", async () => {
    const now = await becomes(child, "idle");
    return now["turns"] === 2 && now;
  });
  expect(settled["turns"]).toBe(2);
  expect((await within(asParent, "data", child)).stdout).toMatch(/I did not run "rm -r build"[^]*You said: "y"/);
});

test("another's child, its sibling and its parent: refused, each recorded, nothing answered", async () => {
  const sibling = `sibling-${count}`;
  expect(await within(asParent, "start", "practice", "--name", sibling, "say hello")).toMatchObject({ status: 0 });
  const stranger = await home.json<SessionRow>("start", "command", "--", "sleep", "600");
  const siblings = await insideOf(home, await becomes(sibling, "idle"));
  const strangers = await insideOf(home, stranger);
  const before = (await home.events()).length;
  for (const [environment, target] of [
    [siblings, child],
    [siblings, "parent"],
    [strangers, child],
  ] as const) {
    const result = await within(environment, "approve", target);
    expect(result.status).not.toBe(0);
    expect(result.stderr).toContain(`may not call answer_approval on ${target}`);
  }
  await eventually("each is recorded", async () => {
    const refusals = (await home.events()).slice(before).filter(({ type }) => type === "call-refused");
    return refusals.length === 3 && refusals.every(({ data }) => data["operation"] === "answer_approval");
  });
  expect(await told(child, "approval-answer-requested")).toEqual([]);
  expect(await becomes(child, "awaiting-approval")).toMatchObject({ approvals: 1 });
});

test("a wait without names, inside a session, is for what the session started and not for itself", async () => {
  const asking = await within(asParent, "wait", "--timeout", "20", "--json");
  expect(asking.status, asking.stderr).toBe(12);
  const others = await home.list();
  const children = others.filter((session) => session["parent_session_id"] === parent.session_id);
  for (const { name } of children) await within(asParent, "end", name, "--when", "now", "--grace", "0");
  expect(await within(asParent, "wait", "--timeout", "20")).toMatchObject({
    status: 16,
    stdout: "No session is at work; see reeve list.\n",
  });
});
