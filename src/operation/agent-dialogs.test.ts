/** An agent's own dialogs (trust this folder, log in) are told with the approvals, and not answered blindly. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { OPERATOR } from "../session/caller.ts";
import { answerApproval } from "./answer-approval.ts";
import type { Operation } from "./contract.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { listApprovals } from "./list-approvals.ts";

const evidence = { source: "screen", detail: "rule trust-folder", at: 1_700_000_000_000 } as const;

let ground: DoorGround;
beforeEach(async () => {
  ground = await makeDoorGround([
    [
      "asker",
      { conversation: { activity: { status: "awaiting-input", asks: "\u001B[1mTrust this folder?", evidence } } },
    ],
    ["quiet", {}],
  ]);
});
afterEach(() => ground.dispose());

const call = (operation: Operation, input: object): Promise<unknown> =>
  ground.door.invoke(operation, input, OPERATOR, ground.call);

test("they are listed, with where to answer them", async () => {
  expect(await call(listApprovals, {})).toMatchObject({
    approvals: [
      {
        approval_id: "dialog",
        session_id: "asker",
        title: "Trust this folder?",
        requested_at: "2023-11-14T22:13:20.000Z",
        answerable: false,
      },
    ],
  });
});

test.each([{}, { approval_id: "dialog" }])("no key is pressed for %j", async (which) => {
  const before = ground.store.log.head();
  await expect(call(answerApproval, { session: "asker", decision: "approved", ...which })).rejects.toMatchObject({
    code: "approval-not-answerable",
    message: expect.stringContaining("reeve attach"),
  });
  expect(ground.store.log.head()).toBe(before);
});
