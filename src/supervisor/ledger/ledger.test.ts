import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Input } from "../../session/input.ts";
import type { Message } from "../../session/message.ts";
import { agentWith, type Ground, makeGround } from "../attention/watch-fixture.ts";
import type { SentMessage } from "./ledger.ts";

test("a listener that throws is logged, and the others are told", async () => {
  const ground = await makeGround(agentWith({}));
  try {
    const told: string[] = [];
    ground.ledger.onCommit(() => {
      throw new Error("a careless listener");
    });
    ground.ledger.onCommit((sessionId) => void told.push(sessionId));
    const paused = await ground.apply({ type: "pause", mode: "detach" });
    expect(paused.state).toBe("paused");
    expect(told).toEqual(["s"]);
    expect(ground.home.logged).toMatchObject([
      {
        message: "what follows a commit failed",
        fields: { session: "s", why: expect.stringContaining("a careless listener") as string },
      },
    ]);
  } finally {
    await ground.dispose();
  }
});

describe("the ledger", () => {
  let ground: Ground;
  beforeEach(async () => void (ground = await makeGround(agentWith({}))));
  afterEach(() => ground.dispose());

  const message = (id: string, sessionId = "s"): SentMessage => ({
    id,
    sessionId,
    text: "hello",
    submit: true,
    how: "interrupt",
    caller: "operator",
    state: "admitted",
    admittedAt: 1,
    settled: null,
    detail: null,
  });
  const started = (id: string): Input => ({
    type: "read",
    incarnation: 1,
    reading: { source: "hook", detail: "a hook", turn: { phase: "started", id } },
  });
  const admit = async (id: string): Promise<Message> => {
    await ground.ledger.admit(message(id));
    const admitted = ground.store.mailbox.get(id);
    if (admitted === undefined) throw new Error("it was not admitted");
    return admitted;
  };

  test("takes only so much that waits for one session, also of what comes at once", async () => {
    const megabyte = "x".repeat(1_048_576);
    const sent = Array.from({ length: 10 }, (_, index) => ({ ...message(`m${index}`), text: megabyte }));
    const outcomes = await Promise.allSettled(sent.map((one) => ground.ledger.admit(one)));
    expect(outcomes.map(({ status }) => status)).toEqual([...Array(8).fill("fulfilled"), "rejected", "rejected"]);
    await expect(admit("small")).rejects.toMatchObject({ code: "too-much-waiting", kind: "conflict" });
    const [first] = ground.store.mailbox.open("s");
    if (first === undefined) throw new Error("nothing waits");
    await ground.ledger.withdraw(first, { caller: { kind: "operator" } });
    await admit("small");
  });

  test("what is asked at once is done one after the other, each on what the one before made", async () => {
    const before = ground.session().revision;
    await Promise.all([ground.apply(started("a")), ground.apply(started("b")), ground.apply(started("c"))]);
    expect(ground.session()).toMatchObject({ conversation: { turns: 3, lastTurn: { id: "c" } }, revision: before + 3 });
  });

  test("a refused wish commits nothing, and what follows goes on", async () => {
    const before = ground.session();
    const refused = ground.apply({ type: "answer", approvalId: "nobody's", decision: "approved" });
    const next = ground.apply({ type: "pause", mode: "detach" });
    await expect(refused).rejects.toMatchObject({ kind: "conflict", details: { session_id: "s" } });
    expect((await next).revision).toBe(before.revision + 1);
  });

  test("an input that changes nothing is no commit, and nobody is told", async () => {
    await ground.apply(started("a"));
    const told: string[] = [];
    ground.ledger.onCommit((sessionId) => void told.push(sessionId));
    const { revision } = ground.session();
    await ground.apply(started("a"));
    expect([ground.session().revision, told]).toEqual([revision, []]);
  });

  test("a session that is not there gets neither inputs nor messages", async () => {
    const nobody = { code: "unknown-session", kind: "not-found" };
    await expect(ground.ledger.apply("nobody", { type: "resume" })).rejects.toMatchObject(nobody);
    await expect(ground.ledger.admit(message("m", "nobody"))).rejects.toMatchObject(nobody);
  });

  test("a message is told, and keeps which turn it is meant for as the record stood then", async () => {
    await ground.apply(started("a"));
    const sent = await admit("m");
    await ground.apply(started("b"));
    expect(ground.store.mailbox.get("m")).toEqual(sent);
    expect(sent).toMatchObject({ intendedTurn: 1, answers: null });
    expect(ground.events("message-admitted")).toEqual([{ type: "message-admitted", messageId: "m", bytes: 5 }]);
  });

  test("a message that is known to be delivered stays so, and its event says into which turn it went", async () => {
    const sent = await admit("m");
    const evidence = { source: "runtime", detail: "typed", at: 1 } as const;
    const delivered = { type: "message-delivered", messageId: "m", evidence } as const;
    await ground.ledger.settle(sent, "leased", null, null);
    await ground.apply(started("a"));
    await ground.ledger.settle(sent, "delivered", delivered, "typed");
    await ground.ledger.settle(sent, "unknown", null, "too late");
    expect(ground.store.mailbox.get("m")).toMatchObject({ state: "delivered", detail: "typed" });
    expect(ground.events("message-delivered")).toEqual([{ ...delivered, turn: 1 }]);
  });
});
