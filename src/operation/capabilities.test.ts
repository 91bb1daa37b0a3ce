/** What a runtime cannot do is refused in words, before anything is recorded. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { OPERATOR } from "../session/caller.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import type { Operation } from "./contract.ts";
import { getAttachCommand } from "./get-attach-command.ts";
import { getSession } from "./get-session.ts";
import { pauseSession } from "./pause-session.ts";

let ground: DoorGround;
beforeEach(async () => {
  ground = await makeDoorGround([["placed", { process: { place: { pod: "reeve-7f" } } }]]);
});
afterEach(() => ground.dispose());

const call = (operation: Operation, input: object): Promise<unknown> =>
  ground.door.invoke(operation, input, OPERATOR, ground.call);

test.each([
  ["attach", getAttachCommand, { session: "placed" }, "not-attachable", /no terminal to attach to/],
  ["suspend", pauseSession, { session: "placed", suspend: true }, "cannot-suspend", /pause it without --suspend/],
] as const)("%s", async (_what, operation, input, code, says) => {
  const before = ground.store.log.head();
  await expect(call(operation, input)).rejects.toMatchObject({ code, message: expect.stringMatching(says) });
  expect(ground.store.log.head()).toBe(before);
});

test("of a place that its runtime cannot read nobody is shown a pid", async () => {
  expect(await call(getSession, { session: "placed" })).toMatchObject({
    runtime: { kind: "tmux", id: null, pid: null },
  });
});
