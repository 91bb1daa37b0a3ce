/** Which texts in a composer are Reeve's own, and may be removed. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Message } from "../../session/message.ts";
import { agentWith, type Ground, makeGround } from "../attention/watch-fixture.ts";
import { ownTexts } from "./composer-watch.ts";

const agent = agentWith({ encode: ({ text }) => [{ type: "paste", text }] });

let ground: Ground;
beforeEach(async () => {
  ground = await makeGround(agent);
});
afterEach(() => ground.dispose());

async function typed(text: string, state: Message["state"], submit = true): Promise<void> {
  const sent = { id: text, sessionId: "s", text, submit, how: "queue", caller: "operator" } as const;
  await ground.ledger.admit({ ...sent, state: "admitted", admittedAt: 1, settled: null, detail: null });
  const message = ground.store.mailbox.get(text);
  if (message !== undefined) await ground.ledger.settle(message, state, null, null);
}

function own(): readonly string[] {
  const adapters = { agent: () => agent, runtime: () => Promise.reject(new Error("not asked")) as never };
  const attention = { standing: async () => ({ state: "absent" }) as const };
  return ownTexts({ ...ground.parts, adapters, attention, composer: async () => null }, ground.session());
}

test("one without an outcome is, once or twice, and several of them behind one another", async () => {
  await typed("before", "delivered");
  for (const text of ["a", "b", "c"]) await typed(text, "unknown");
  expect(own()).toEqual(expect.arrayContaining(["a", "b", "c", "bb", "ab", "bc", "abc"]));
  for (const text of ["before", "beforea", "ac", "ba"]) expect(own()).not.toContain(text);
});

test("what was to stand there is none: it was asked for", async () => {
  await typed("a draft", "delivered", false);
  await typed("and more", "unknown");
  expect(own()).toContain("and more");
  for (const text of ["a draft", "a draftand more"]) expect(own()).not.toContain(text);
});
