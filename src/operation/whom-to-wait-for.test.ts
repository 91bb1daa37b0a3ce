/** Whom a wait without names is about: everybody whose last request is not seen to its end, and whoever failed. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Amendment } from "../session/amend.ts";
import { type Caller, OPERATOR } from "../session/caller.ts";
import type { EventBody } from "../session/event.ts";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import { admitMessage } from "../store/change.ts";
import { makeMessage, makeSession } from "../store/store-fixture.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { waitForSession } from "./wait-for-session.ts";

let clock: TestClock;
let ground: DoorGround;
beforeEach(async () => {
  clock = makeTestClock();
  ground = await makeDoorGround([], { clock });
});
afterEach(() => ground.dispose());

const shown = (status: "idle" | "working") => ({
  activity: { status, asks: null, evidence: { source: "hook", detail: "", at: clock.now() } as const },
});
const evidence = { source: "operator", detail: "", at: 0 } as const;
const reason = { code: "asked", text: "Asked.", evidence };
const starting: EventBody = { type: "session-starting", incarnation: 1, reason };
const ended = (verdict: "completed" | "failed"): EventBody => ({ type: `turn-${verdict}`, turn: 1, evidence }) as never;

const { launch } = makeSession({ outputsRoot: "" }, "any").identity;
const prompted = { identity: { launch: { ...launch, prompt: "do it" } } };
const AT_WORK = () => ({ ...prompted, conversation: { ...shown("working"), turns: 1, turnOpen: true } });
const DONE = () => ({ ...prompted, conversation: { ...shown("idle"), turns: 1 } });

/** A session of the role `q`, as Reeve knows it, and what its log says. */
async function add(name: string, changes: Amendment, ...events: readonly EventBody[]): Promise<void> {
  const { identity, ...others } = changes;
  await ground.add(name, { ...others, identity: { ...identity, role: "q" } }, events);
}

interface Waited {
  readonly done: boolean;
  readonly ok: boolean;
  readonly reason: string;
  readonly woken: readonly { readonly name: string }[];
  readonly asleep: readonly string[];
}

async function wait(fields: object = {}, caller: Caller = OPERATOR): Promise<Waited> {
  return await ground.door.invoke(
    waitForSession,
    { role: "q", timeout_seconds: 0, reply: false, ...fields },
    caller,
    ground.call,
  );
}

describe("waiting for all of a role", () => {
  test("one that has not taken its prompt yet is waited for, though it is idle and the others are done", async () => {
    await add("done", DONE(), starting, ended("completed"));
    await add("fresh", { ...prompted, conversation: shown("idle") }, starting);
    expect(await wait({ mode: "all" })).toMatchObject({ done: false, reason: "timeout", asleep: ["fresh"] });
  });

  test("one that failed makes the whole fail, also if somebody has looked at it", async () => {
    await add("bad", DONE(), starting, ended("failed"));
    await add("good", DONE(), starting, ended("completed"));
    expect(await wait({ mode: "all" })).toMatchObject({ done: true, ok: false, reason: "turn-failed" });
  });

  test("one whose process died makes the whole fail", async () => {
    const exit = { code: 1, signal: null, at: 1 } as never;
    await add("dead", { ...DONE(), state: "error", process: { exit } }, starting, {
      type: "session-errored",
      reason,
    } as never);
    await add("good", DONE(), starting, ended("completed"));
    expect(await wait({ mode: "all" })).toMatchObject({ done: true, ok: false, reason: "exited" });
  });

  test("all that are done have done it, however late somebody waits", async () => {
    await add("one", DONE(), starting, ended("completed"));
    await add("two", DONE(), starting, ended("completed"));
    const waited = await wait({ mode: "all" });
    expect(waited).toMatchObject({ done: true, ok: true, reason: "turn-completed" });
    expect(waited.woken.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  test("a prompt that was never taken is no success", async () => {
    await add("lost", { ...prompted, conversation: shown("idle") }, starting);
    await add("good", DONE(), starting, ended("completed"));
    clock.jump(60_000);
    expect(await wait({ mode: "all" })).toMatchObject({ done: false, ok: false, reason: "nothing-to-wait-for" });
  });

  test("one that was asked nothing is no hindrance, and alone nothing to wait for", async () => {
    await add("unasked", { conversation: shown("idle") }, starting);
    await expect(wait({ mode: "all" })).rejects.toMatchObject({
      code: "nothing-to-wait-for",
      message: "No session of the role q is at work; see reeve list.",
    });
    await add("good", DONE(), starting, ended("completed"));
    expect(await wait({ mode: "all" })).toMatchObject({ done: true, ok: true });
  });
});

describe("waiting for all of a role, one of which is paused", () => {
  const paused = { state: "paused", wish: { desired: "paused", pauseMode: "detach" } } as const;
  const suspended = { ...paused, wish: { ...paused.wish, pauseMode: "suspend" } } as const;
  const good = () => add("good", DONE(), starting, ended("completed"));

  test("with a turn that was stopped with it: the wait ends, names it, and says what lets it go on", async () => {
    await good();
    await add("asleep", { ...AT_WORK(), ...suspended }, starting);
    const waited = await wait({ mode: "all" });
    expect(waited).toMatchObject({ done: false, ok: false, reason: "nothing-to-wait-for", asleep: [] });
    expect(waited).toMatchObject({ why: expect.stringContaining("reeve resume asleep") as string });
  });

  test("with a message that is held back: the same", async () => {
    await good();
    await add("held", { ...DONE(), ...paused }, starting, ended("completed"));
    await ground.store.commit({
      changes: [admitMessage(makeMessage("held", "m"))],
      events: [{ sessionId: "held", body: { type: "message-admitted", messageId: "m", bytes: 5 } }],
    });
    const waited = await wait({ mode: "all" });
    expect(waited).toMatchObject({ done: false, ok: false, reason: "nothing-to-wait-for" });
    expect(waited).toMatchObject({ why: expect.stringContaining("reeve resume held") as string });
  });

  test("in a turn that goes on: it is waited for", async () => {
    await good();
    await add("works", { ...AT_WORK(), ...paused }, starting);
    expect(await wait({ mode: "all" })).toMatchObject({ done: false, reason: "timeout", asleep: ["works"] });
  });

  test("whose work is done, or who was asked nothing: no hindrance", async () => {
    await good();
    await add("done", { ...DONE(), ...paused }, starting, ended("completed"));
    await add("unasked", { ...paused, conversation: shown("idle") }, starting);
    expect(await wait({ mode: "all" })).toMatchObject({ done: true, ok: true, reason: "turn-completed" });
  });
});

describe("waiting for any of a role", () => {
  test("what went well does not end it as long as another works; alone it does", async () => {
    await add("done", DONE(), starting, ended("completed"));
    expect(await wait()).toMatchObject({ done: true, ok: true, reason: "turn-completed" });
    await add("works", AT_WORK(), starting);
    expect(await wait()).toMatchObject({ done: false, reason: "timeout", asleep: ["works"] });
  });

  test("what failed ends it at once, unless somebody has looked at that", async () => {
    await add("works", AT_WORK(), starting);
    await add("seen", { ...DONE(), notice: { newsRevision: 1, seenRevision: 1 } }, starting, ended("failed"));
    expect(await wait()).toMatchObject({ reason: "timeout", asleep: ["works"] });
    await add("unseen", { ...DONE(), notice: { newsRevision: 1, seenRevision: 0 } }, starting, ended("failed"));
    expect(await wait()).toMatchObject({ done: true, ok: false, reason: "turn-failed" });
  });
});

test("after a cursor, what was over before it is known", async () => {
  await add("done", DONE(), starting, ended("completed"));
  await add("works", AT_WORK(), starting);
  const since = ground.store.log.head();
  expect(await wait({ mode: "all", since })).toMatchObject({ reason: "timeout", asleep: ["works"] });
});

test("a session waits for those it started, never for itself, and names are given without a role", async () => {
  const by: Caller = { kind: "session", id: "lead" };
  await ground.add("child", { ...AT_WORK(), identity: { ...prompted.identity, parentId: "lead" } }, [starting]);
  await ground.add("lead", AT_WORK(), [starting]);
  expect(await wait({ role: undefined }, by)).toMatchObject({ reason: "timeout", asleep: ["child"] });
  await expect(wait({ session: "child" }, by)).rejects.toMatchObject({ code: "role-and-names" });
});
