/** Delivered means that this text was taken: by what a turn began with, in one commit with its beginning. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { promptPrint } from "../../session/prompt-print.ts";
import type { Reading, TurnReading } from "../../session/reading.ts";
import { makeMessage } from "../../store/store-fixture.ts";
import { agentWith, type Ground, makeGround, SECRET } from "../attention/watch-fixture.ts";

let ground: Ground;
beforeEach(async () => {
  ground = await makeGround(agentWith({}));
});
afterEach(() => ground.dispose());

async function type(text: string, isSteered = false): Promise<void> {
  const message = makeMessage("s", "m", { text });
  await ground.ledger.admit(message);
  await ground.ledger.settle({ ...message, position: 1 }, "leased", null, null);
  const { turns } = ground.session().conversation;
  const expected = { messageId: "m", incarnation: 1, turnsBefore: turns, isSteered, done: "typed" };
  ground.receipts.expect("s", { ...expected, print: promptPrint(text) });
}

const started = (turn: Omit<Extract<TurnReading, { phase: "started" }>, "phase">): Partial<Reading> => ({
  activity: "working",
  turn: { phase: "started", ...turn },
});
const take = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a prompt hook", ...reading });
const state = (): string | undefined => ground.store.mailbox.get("m")?.state;

test("a turn that began with it", async () => {
  await type("fix the\tbug ");
  await take(started({ id: "1", prompt: " fix the    bug" }));
  expect(state()).toBe("delivered");
  expect(ground.events("turn-started", "message-delivered")).toMatchObject([
    { type: "turn-started" },
    { messageId: "m", evidence: { source: "hook", detail: "typed; it was taken (a prompt hook)" } },
  ]);
});

test("a turn that began with another text is none, and the outcome can say what was taken", async () => {
  await type("beta");
  await take(started({ id: "1", prompt: `alphabeta ${SECRET}` }));
  expect(state()).toBe("leased");
  expect(ground.receipts.takenInstead("s")).toMatch(/^alphabeta /);
  expect(ground.receipts.takenInstead("s")).not.toContain(SECRET);
  await take(started({ id: "2", prompt: "beta" }));
  expect(state()).toBe("delivered");
});

test("a turn that nobody's text began is none", async () => {
  await type("beta");
  await take(started({ id: "1" }));
  expect(state()).toBe("leased");
  expect(ground.receipts.takenInstead("s")).toBeNull();
});

test("the text of a turn whose beginning another source told first", async () => {
  await type("beta");
  await take(started({ id: "1" }));
  await take({ ...started({ id: "1", prompt: "beta" }), source: "transcript" });
  expect(state()).toBe("delivered");
});

test("a late word about an earlier turn with the same text is none", async () => {
  await take(started({ id: "1", prompt: "go on" }));
  await take({ activity: "idle", turn: { phase: "completed", id: "1" } });
  await type("go on");
  await take({ ...started({ id: "1", prompt: "go on" }), source: "transcript" });
  expect(state()).toBe("leased");
  await take(started({ id: "2", prompt: "go on" }));
  expect(state()).toBe("delivered");
});

test("a word into a turn is told under the name of that turn", async () => {
  await take(started({ id: "1", prompt: "begin" }));
  await type("and also this", true);
  await take(started({ id: "1", prompt: "and also this" }));
  expect(state()).toBe("delivered");
});

test("what is not on its way is not settled by it, and nothing of a prompt is written", async () => {
  await type(SECRET);
  await take(started({ id: "1", prompt: SECRET }));
  expect(state()).toBe("delivered");
  await take(started({ id: "2", prompt: SECRET }));
  expect(ground.events("message-delivered")).toHaveLength(1);
  const written = JSON.stringify([ground.session(), await ground.store.log.read({ after: 0, limit: 1_000 })]);
  expect(written).not.toContain(SECRET);
  expect(written).not.toContain(promptPrint(SECRET));
});
