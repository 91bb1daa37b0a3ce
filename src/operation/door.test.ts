/** The one door: who may call what on which session, and that whoever called is recorded. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { type Caller, OPERATOR, SYSTEM } from "../session/caller.ts";
import { answerApproval } from "./answer-approval.ts";
import type { Operation } from "./contract.ts";
import { daemonStatus } from "./daemon-status.ts";
import type { Session } from "../session/session.ts";
import { amend } from "../session/amend.ts";
import { putSession } from "../store/change.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { renameSession } from "./rename-session.ts";
import { startSession } from "./start-session.ts";
import { endSession } from "./end-session.ts";
import { explainSession } from "./explain-session.ts";
import { getSession } from "./get-session.ts";
import { listApprovals } from "./list-approvals.ts";
import { listSessions } from "./list-sessions.ts";
import { operations } from "./operations.ts";
import { pauseSession } from "./pause-session.ts";
import { readEvents } from "./read-events.ts";
import { sendMessage } from "./send-message.ts";
import { waitForSession } from "./wait-for-session.ts";

const asked = {
  id: "q",
  kind: "command",
  title: "rm",
  subject: null,
  cwd: null,
  reason: null,
  requestedAt: 1,
} as const;
const approvals = [{ ...asked, choices: null, concerns: null, answer: null }];

let ground: DoorGround;
beforeEach(async () => {
  ground = await makeDoorGround([
    ["asker", { identity: { parentId: "boss" }, conversation: { approvals, turns: 1, turnOpen: true } }],
    ["odd-asker", { conversation: { approvals, turns: 1, turnOpen: true } }],
    // A record from a file may claim anything.
    ["ring-one", { identity: { parentId: "ring-two" } }],
    ["ring-two", { identity: { parentId: "ring-one" } }],
    ["hermit", {}],
  ]);
});
afterEach(() => ground.dispose());

const by = (id: string): Caller => ({ kind: "session", id });

/** What a call came to: its output's kind of success, or the code and sentence of its refusal. */
async function outcome(operation: Operation, input: unknown, caller: Caller): Promise<string> {
  return await ground.door.invoke(operation, input, caller, ground.call).then(
    () => "done",
    (error: { readonly code: string }) => error.code,
  );
}

async function sentence(operation: Operation, input: unknown, caller: Caller): Promise<string> {
  return await ground.door.invoke(operation, input, caller, ground.call).then(
    () => "done",
    (error: Error) => error.message,
  );
}

describe("who may call, and on what", () => {
  test.each([
    ["itself", "worker", "done"],
    ["its child", "helper", "done"],
    ["its parent", "boss", "not-allowed"],
    ["somebody else", "stranger", "not-allowed"],
  ])("a session may read, message, pause and end %s: %s", async (_which, session, expected) => {
    const now = { timeout_seconds: 0 };
    expect(await outcome(getSession, { session }, by("worker"))).toBe(expected);
    expect(await outcome(sendMessage, { session, text: "hello", ...now }, by("worker"))).toBe(expected);
    expect(await outcome(pauseSession, { session }, by("worker"))).toBe(expected);
    expect(await outcome(endSession, { session, when: "now", ...now }, by("worker"))).toBe(expected);
  });

  test("a session reaches its children's children; parents that name one another lead nowhere", async () => {
    expect(await outcome(getSession, { session: "helper" }, by("boss"))).toBe("done");
    expect(await outcome(getSession, { session: "ring-one" }, by("boss"))).toBe("not-allowed");
  });

  test("no session asks after the daemon; the operator and Reeve may", async () => {
    expect(await outcome(daemonStatus, {}, by("boss"))).toBe("not-allowed");
    for (const caller of [OPERATOR, SYSTEM]) {
      expect(await outcome(daemonStatus, {}, caller)).toBe("done");
      expect(await outcome(getSession, { session: "stranger" }, caller)).toBe("done");
    }
  });

  test("every session that is named counts, also among others", async () => {
    const wait = { session: "worker", timeout_seconds: 0 };
    expect(await outcome(waitForSession, { ...wait, also: ["helper"] }, by("worker"))).toBe("done");
    expect(await outcome(waitForSession, { ...wait, also: ["helper", "stranger"] }, by("worker"))).toBe("not-allowed");
  });

  test("a caller that is not known, or has ended, is refused", async () => {
    expect(await sentence(listSessions, {}, by("nobody"))).toBe(
      "There is no session nobody, so it may not call list_sessions.",
    );
    expect(await outcome(listSessions, {}, by("nobody"))).toBe("unknown-caller");
    expect(await outcome(getSession, { session: "gone" }, by("gone"))).toBe("caller-ended");
  });

  test("a refusal says who may, and is recorded", async () => {
    expect(await sentence(endSession, { session: "boss" }, by("worker"))).toBe(
      "Session worker may not call end_session on boss: a session may call it on itself and on the sessions it started, the operator on any.",
    );
    expect(await sentence(daemonStatus, {}, by("boss"))).toBe(
      "Session boss may not call daemon_status: only the operator may.",
    );
    const recorded = () => ground.store.log.read({ after: 0, limit: 10, types: ["call-refused"] });
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(2));
    expect(await recorded()).toMatchObject([
      { caller: "session:worker", sessionId: "worker", body: { operation: "end_session", target: "boss" } },
      { caller: "session:boss", sessionId: "boss", body: { operation: "daemon_status", target: null } },
    ]);
  });

  test("what does not exist is told so, without the names of others", async () => {
    expect(await sentence(getSession, { session: "strangr" }, OPERATOR)).toContain("stranger");
    expect(await sentence(getSession, { session: "strangr" }, by("worker"))).not.toContain("stranger");
    expect(await outcome(getSession, { session: "nothing-like-it" }, by("worker"))).toBe("unknown-session");
    expect(await outcome(getSession, { session: "he" }, OPERATOR)).toBe("ambiguous-session");
    expect(await outcome(getSession, { session: "he" }, by("worker"))).toBe("done");
  });

  test("what goes through all sessions goes through those in reach", async () => {
    const { door, call } = ground;
    const list = async (caller: Caller) =>
      (await door.invoke(listSessions, {}, caller, call)).sessions.map(({ name }) => name);
    expect(await list(by("worker"))).toEqual(["worker", "helper"]);
    expect(await list(by("helper"))).toEqual(["helper"]);
    expect(await list(OPERATOR)).toContain("stranger");
    const questions = async (caller: Caller) =>
      (await door.invoke(listApprovals, {}, caller, call)).approvals.map(({ session_id: id }) => id);
    expect(await questions(by("boss"))).toEqual(["asker"]);
    expect(await questions(OPERATOR)).toEqual(["asker", "odd-asker"]);
  });

  test("the input is checked before anybody is asked who they are", async () => {
    expect(await sentence(endSession, { session: "worker", when: "never" }, OPERATOR)).toMatch(
      /^when must be now, after-turn or if-free, not "never"/,
    );
    expect(await outcome(endSession, { session: "../x" }, by("nobody"))).toBe("bad-request");
  });

  test("each operation names the fields that name sessions, and no others", () => {
    for (const { name, input, names } of operations) {
      const { properties = {} } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
      const fields = Object.keys(properties).filter((field) => ["session", "also", "parent"].includes(field));
      expect([name, ...names]).toEqual([name, ...fields]);
    }
  });
});

describe("who called is recorded", () => {
  const events = async (session: string, caller: Caller) =>
    (await ground.door.invoke(readEvents, { session }, caller, ground.call)).events;

  test("with the events, the reason and the record of what was asked for", async () => {
    const { door, call, store } = ground;
    await door.invoke(pauseSession, { session: "helper" }, by("worker"), call);
    await door.invoke(endSession, { session: "stranger", timeout_seconds: 0 }, OPERATOR, call);
    expect((await events("helper", by("boss"))).map(({ type, caller }) => [type, caller])).toEqual([
      ["pause-requested", "session:worker"],
      ["session-paused", "session:worker"],
    ]);
    expect((await events("stranger", OPERATOR))[0]).toMatchObject({ type: "end-requested", caller: "operator" });
    expect(store.registry.get("helper")).toMatchObject({
      reason: { evidence: { source: "session", detail: "asked for by session worker" } },
      wish: { lastCommand: { type: "pause", by: "session:worker" } },
    });
    expect(store.registry.get("stranger")?.wish.lastCommand).toMatchObject({ type: "end", by: "operator" });
    expect(await door.invoke(getSession, { session: "helper" }, OPERATOR, call)).toMatchObject({
      started_by: "operator",
      last_command: { command: "pause", by: "session:worker" },
    });
  });

  test("with a message, from its admission on", async () => {
    const { door, call, store } = ground;
    const message = { session: "helper", text: "hello", timeout_seconds: 0 };
    const sent = await door.invoke(sendMessage, message, by("worker"), call);
    expect(store.mailbox.get(sent.message_id)).toMatchObject({ caller: "session:worker", state: "admitted" });
    expect(await events("helper", OPERATOR)).toMatchObject([{ type: "message-admitted", caller: "session:worker" }]);
    const explained = await door.invoke(explainSession, { session: "helper" }, OPERATOR, call);
    expect(explained.messages).toMatchObject([{ message_id: sent.message_id, sent_by: "session:worker" }]);
  });

  test("with the answer to a question", async () => {
    const { door, call, store, leave } = ground;
    const answer = { session: "asker", decision: "approved" };
    const answered = door.invoke(answerApproval, answer, SYSTEM, call);
    await new Promise<void>((resolve) => {
      const isAsked = (): boolean => store.registry.get("asker")?.wish.lastCommand !== null;
      store.log.follow(() => isAsked() && resolve());
    });
    leave();
    await answered;
    expect(store.registry.get("asker")?.wish.lastCommand).toMatchObject({ type: "answer", by: "system" });
    expect(await store.log.read({ after: 0, limit: 1, sessionIds: ["asker"] })).toMatchObject([
      { caller: "system", body: { type: "approval-answer-requested", decision: "approved" } },
    ]);
  });

  test("a key is its caller's own: another's call with the same key is another change", async () => {
    const { door, call, store } = ground;
    const keyed = { ...call, idempotencyKey: "once" };
    const message = { session: "helper", text: "hello", timeout_seconds: 0 };
    const ids = [];
    for (const caller of [OPERATOR, by("worker"), by("boss"), by("worker"), OPERATOR])
      ids.push((await door.invoke(sendMessage, message, caller, keyed)).message_id);
    const [operators, workers, bosses] = ids;
    expect(ids).toEqual([operators, workers, bosses, workers, operators]);
    expect(new Set(ids).size).toBe(3);
    expect(store.mailbox.open("helper").map(({ caller }) => caller)).toEqual([
      "operator",
      "session:worker",
      "session:boss",
    ]);
  });
});

test.each(["operator", "reeve", "system"])("no session may be called %s", async (name) => {
  const why = `name must be another name, because operator, reeve and system stand for somebody else, not "${name}".`;
  expect(await sentence(renameSession, { session: "worker", name }, OPERATOR)).toBe(why);
  expect(await sentence(startSession, { agent: "inline", cwd: "/", name }, OPERATOR)).toBe(why);
});

describe("streams", () => {
  test("an operation that streams goes on with what its caller may see", async () => {
    const { door, call, store, leave } = ground;
    const seen: unknown[] = [];
    const pages = door.stream(readEvents, {}, by("worker"), call);
    const done = (async () => {
      for await (const page of pages) {
        for (const { id, type, data } of page) seen.push([id, type, (data as { session_id: string }).session_id]);
        if (seen.length === 3) leave();
      }
    })();
    await door.invoke(pauseSession, { session: "stranger" }, OPERATOR, call);
    await door.invoke(pauseSession, { session: "helper" }, OPERATOR, call);
    await door.invoke(sendMessage, { session: "worker", text: "x", timeout_seconds: 0 }, OPERATOR, call);
    await done;
    expect(seen).toEqual([
      [3, "pause-requested", "helper"],
      [4, "session-paused", "helper"],
      [5, "message-admitted", "worker"],
    ]);
    expect(store.log.head()).toBeGreaterThanOrEqual(5);
  });

  test.each<[string, (worker: Session) => Session]>([
    ["has ended", (worker) => amend(worker, { state: "stopped", wish: { desired: "stopped" } })],
    [
      "was started again, with another pass",
      (worker) => amend(worker, { process: { incarnation: worker.process.incarnation + 1 } }),
    ],
  ])("ends when the session that listens %s", async (_what, become) => {
    const { door, store, call } = ground;
    const pages = door.stream(readEvents, { since: store.log.head() }, by("worker"), call);
    const heard: number[] = [];
    const listening = (async () => {
      for await (const page of pages) heard.push(page.length);
    })();
    const worker = store.registry.get("worker");
    if (worker === undefined) throw new Error("there is no worker");
    const told = { sessionId: "worker", body: { type: "message-admitted", messageId: "x", bytes: 1 } } as const;
    await store.commit({ changes: [putSession({ ...become(worker), revision: worker.revision + 1 })], events: [told] });
    await listening;
    await store.commit({ events: [{ ...told, sessionId: "helper" }] });
    expect(heard.length).toBeLessThanOrEqual(1);
  });

  test("is refused at once where it is not allowed, named wrongly, or nothing to stream", () => {
    const stream = (operation: Operation, input: unknown) => () =>
      ground.door.stream(operation, input, by("worker"), ground.call);
    expect(stream(readEvents, { session: "stranger" })).toThrow("may not call read_events on stranger");
    expect(stream(readEvents, { session: "nothing-like-it" })).toThrow("There is no session");
    expect(stream(listSessions, {})).toThrow("list_sessions gives one answer and no stream");
  });
});

test("nothing but the door runs an operation", () => {
  const root = join(import.meta.dirname, "..");
  const runners = globSync("**/*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => /\boperation\.(?:run|stream\.open)\(/.test(readFileSync(join(root, file), "utf8")));
  expect(runners).toEqual(["operation/door.ts"]);
});
