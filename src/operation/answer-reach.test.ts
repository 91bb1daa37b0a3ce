/** Who may answer whose question: a session those of what it started, and never its own. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Approval } from "../session/approval.ts";
import { type Caller, OPERATOR } from "../session/caller.ts";
import { answerApproval } from "./answer-approval.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { listApprovals } from "./list-approvals.ts";

const question = (id: string): readonly Approval[] => [
  {
    id,
    kind: "command",
    title: "rm",
    subject: null,
    cwd: null,
    reason: null,
    requestedAt: 1,
    choices: null,
    concerns: null,
    answer: null,
  },
];
const asks = (id: string) => ({ approvals: question(id), turns: 1, turnOpen: true });

const ASKING = ["chief", "asker", "sibling", "below-asker", "odd", "ring-one"];
const by = (id: string): Caller => ({ kind: "session", id });

/** chief started asker and sibling, asker started below-asker; odd is nobody's, and each of the ring claims the other. */
let ground: DoorGround;
beforeEach(async () => {
  ground = await makeDoorGround([
    ["chief", { conversation: asks("of-chief") }],
    ["asker", { identity: { parentId: "chief" }, conversation: asks("of-asker") }],
    ["sibling", { identity: { parentId: "chief" }, conversation: asks("of-sibling") }],
    ["below-asker", { identity: { parentId: "asker" }, conversation: asks("of-below") }],
    ["odd", { conversation: asks("of-odd") }],
    ["ring-one", { identity: { parentId: "ring-two" }, conversation: asks("of-ring") }],
    ["ring-two", { identity: { parentId: "ring-one" } }],
  ]);
});
afterEach(() => ground.dispose());

const answers = () =>
  ASKING.map((id) => ground.store.registry.get(id)?.conversation.approvals[0]?.answer?.decision ?? null);

describe("who may answer", () => {
  test.each([
    ["its own question", "asker", "asker"],
    ["its parent's", "asker", "chief"],
    ["its sibling's", "asker", "sibling"],
    ["a stranger's", "asker", "odd"],
    ["its own, by a record that claims it is its own forebear", "ring-one", "ring-one"],
  ])("a session may not answer %s, by session or by the question's id, and that is recorded", async (_, caller, of) => {
    const { door, call, store } = ground;
    const id = store.registry.get(of)?.conversation.approvals[0]?.id;
    for (const named of [{}, { approval_id: id }])
      await expect(
        door.invoke(answerApproval, { session: of, decision: "approved", ...named }, by(caller), call),
      ).rejects.toMatchObject({
        code: "not-allowed",
        kind: "forbidden",
        message: `Session ${caller} may not call answer_approval on ${of}: a session may call it on the sessions it started but not on itself, the operator on any.`,
      });
    const recorded = () => store.log.read({ after: 0, limit: 10, types: ["call-refused"] });
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(2));
    for (const event of await recorded())
      expect(event).toMatchObject({
        caller: `session:${caller}`,
        body: { operation: "answer_approval", target: of, code: "not-allowed" },
      });
    expect(answers()).toEqual(ASKING.map(() => null));
  });

  test("the id of another session's question is no way to it", async () => {
    const { door, call } = ground;
    for (const approval_id of ["of-asker", "of-chief", "of-odd"])
      await expect(
        door.invoke(answerApproval, { session: "below-asker", approval_id, decision: "approved" }, by("asker"), call),
      ).rejects.toMatchObject({ code: "approval-stale" });
    expect(answers()).toEqual(ASKING.map(() => null));
  });

  test.each([
    ["parent", "chief", "asker", "approved"],
    ["parent", "asker", "below-asker", "denied"],
    ["parent's parent", "chief", "below-asker", "approved"],
  ] as const)("its %s may, and is recorded as who did", async (_, caller, of, decision) => {
    const { door, call, store, leave } = ground;
    const asked = new Promise<void>((resolve) => {
      store.log.follow((events) => events.some(({ sessionId }) => sessionId === of) && resolve());
    });
    const answered = door.invoke(answerApproval, { session: of, decision }, by(caller), call);
    await asked;
    // None of them has a process that could take it.
    leave();
    expect(await answered).toMatchObject({ session_id: of, state: "pending" });
    expect(store.registry.get(of)?.wish.lastCommand).toMatchObject({ type: "answer", by: `session:${caller}` });
    expect(await store.log.read({ after: 0, limit: 1, sessionIds: [of] })).toMatchObject([
      { caller: `session:${caller}`, body: { type: "approval-answer-requested", decision } },
    ]);
  });

  test("a session is shown its own question and those of its descendants, and which of them it may answer", async () => {
    const { door, call } = ground;
    const shown = async (caller: Caller) =>
      (await door.invoke(listApprovals, {}, caller, call)).approvals.map(({ session_id, answerable }) => [
        session_id,
        answerable,
      ]);
    expect(await shown(by("chief"))).toEqual([
      ["chief", false],
      ["asker", true],
      ["sibling", true],
      ["below-asker", true],
    ]);
    expect(await shown(by("below-asker"))).toEqual([["below-asker", false]]);
    expect(await shown(OPERATOR)).toEqual(ASKING.map((id) => [id, true]));
    const [own] = (await door.invoke(listApprovals, {}, by("below-asker"), call)).approvals;
    expect(own?.how_to_answer).toBe("The operator answers it, or a session above yours that started it.");
  });
});
