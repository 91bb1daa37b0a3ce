/** What to do next with messages follows from the record, the messages and the time. */
import { momentOf } from "./moment.ts";
import { amend } from "./amend.ts";
import { describe, expect, test } from "vitest";
import type { Message } from "./message.ts";
import { type Circumstances, intentOf, isTurnComing, type NextStep, nextStep } from "./next-step.ts";
import { read, run, runningSession } from "./run-inputs.ts";
import type { Session } from "./session.ts";

const idle = run(runningSession(), read({ activity: "idle" })).session;
const working = run(idle, read({ turn: { phase: "started", id: "t" } })).session;
const asking = run(working, read({ activity: "awaiting-input", asks: "Which?" })).session;

function message(id: string, changes: Partial<Message> = {}): Message {
  return {
    id,
    sessionId: "abc",
    position: 1,
    text: "hello",
    submit: true,
    how: "queue",
    intendedTurn: null,
    answers: null,
    caller: "operator",
    state: "admitted",
    admittedAt: 1_000,
    settled: null,
    detail: null,
    ...changes,
  };
}

const momentAt = (now: number) => momentOf({ now, random: 0 });
const NOW = momentAt(100_000);

function around(changes: Partial<Circumstances> = {}): Circumstances {
  return {
    now: NOW,
    monotonic: 10_000,
    accepts: (status) => status === "idle" || status === "awaiting-input",
    canSteer: true,
    isCaughtUp: true,
    channel: { isOpen: false, text: "not open" },
    isConcealed: () => false,
    lastTyped: null,
    interrupted: null,
    parked: null,
    held: null,
    ...changes,
  };
}

const step = (session: Session, open: readonly Message[], changes: Partial<Circumstances> = {}): NextStep =>
  nextStep(session, open, around(changes));
const admitted = (session: Session, id: string, changes: Partial<Message> = {}): Message =>
  message(id, { ...intentOf(session, changes.caller ?? null, false), ...changes });
const again = (at: number, why: string | null = null, messageId = "a"): NextStep => ({
  do: "look-again",
  at,
  obstacle: why === null ? null : { messageId, why },
});
const WAIT: NextStep = { do: "wait" };
const a = message("a");
const b = message("b");

describe("what is done with waiting messages", () => {
  test.each<[string, Session, readonly Message[], Partial<Circumstances>, NextStep]>([
    ["nothing waits", idle, [], {}, WAIT],
    ["it is idle: the oldest is typed", idle, [a, b], {}, { do: "type", message: a }],
    ["it works: the message waits", working, [a], {}, WAIT],
    ["it does not take text now", idle, [a], { accepts: () => false }, WAIT],
    ["what happened to it is not read yet", idle, [a], { isCaughtUp: false }, WAIT],
    ["it is paused", amend(idle, { wish: { desired: "paused" } }), [a], {}, WAIT],
    ["it cannot be reached", unreachable(idle), [a], {}, WAIT],
    ["it has ended", amend(idle, { wish: { desired: "stopped" } }), [a, b], {}, { do: "refuse", message: a }],
    ["steered into its turn", working, [steer()], {}, { do: "type", message: steer() }],
    ["it cannot be steered", working, [steer()], { canSteer: false }, WAIT],
    ["its first prompt is ahead", promptAhead(), [a], { now: momentAt(2_500) }, again(10_250)],
    [
      "its secret cannot be read",
      idle,
      [a],
      { isConcealed: () => true },
      again(11_000, "it repeats a secret of the session, whose environment cannot be read now"),
    ],
  ])("%s", (_what, session, open, changes, expected) => {
    expect(step(session, open, changes)).toEqual(expected);
  });

  test("one that was being typed is found out about before any other, as soon as that can be told", () => {
    const left = message("a", { state: "leased" });
    expect(step(idle, [left, b])).toEqual({ do: "recover", message: left });
    expect(step(working, [left, b])).toEqual({ do: "recover", message: left });
    expect(step(unreachable(idle), [left, b])).toEqual(WAIT);
    expect(step(amend(idle, { wish: { desired: "stopped" } }), [left], { isCaughtUp: false })).toEqual({
      do: "recover",
      message: left,
    });
  });

  test("over its own protocol where it has one; a command of its own and an answer are typed", () => {
    const spoken = (session: Session): Session => amend(session, { watch: { socket: "/s" } });
    const open = { channel: { isOpen: true, text: "open" } };
    expect(step(spoken(idle), [a], open)).toEqual({ do: "channel", message: a });
    expect(step(spoken(idle), [a])).toEqual(again(10_250, "its own protocol is not open"));
    const quit = message("a", { text: "/quit" });
    expect(step(spoken(idle), [quit], open)).toEqual({ do: "type", message: quit });
    const answer = admitted(spoken(asking), "a");
    expect(step(spoken(asking), [answer], open)).toEqual({ do: "type", message: answer });
  });

  test("what a session sends to itself does not answer its own question", () => {
    const own = admitted(asking, "a", { caller: `session:${asking.id}` });
    expect(step(asking, [own])).toEqual(WAIT);
    expect(step(idle, [own])).toEqual({ do: "type", message: own });
    const parents = admitted(asking, "b", { caller: "session:parent" });
    expect(step(asking, [own, parents])).toEqual({ do: "type", message: parents });
  });

  test("after one that nothing confirmed, the next waits until the agent has settled or said something", () => {
    const lastTyped = { at: 9_000, activityAt: idle.conversation.activity.evidence.at };
    expect(step(idle, [a], { lastTyped })).toEqual(again(11_000));
    expect(step(idle, [a], { lastTyped, monotonic: 11_000 })).toEqual({ do: "type", message: a });
    expect(step(idle, [a], { lastTyped: { ...lastTyped, activityAt: 1 } })).toEqual({ do: "type", message: a });
  });

  test("what stood in the way of a message is looked at again after a while, and holds no other up", () => {
    const held = { messageId: "a", until: 10_400 };
    expect(step(idle, [a], { held })).toEqual(again(10_400));
    expect(step(idle, [a], { held, monotonic: 10_400 })).toEqual({ do: "type", message: a });
    expect(step(idle, [b], { held })).toEqual({ do: "type", message: b });
  });
});

describe("a message that interrupts", () => {
  const how = "interrupt";
  const next = run(
    working,
    read({ turn: { phase: "completed", id: "t" } }),
    read({ turn: { phase: "started", id: "u" } }),
  ).session;

  test("stops the turn that was under way when it was sent, and no other", () => {
    const sent = admitted(working, "a", { how });
    expect(sent.intendedTurn).toBe(1);
    expect(step(working, [sent])).toEqual({ do: "interrupt", message: sent });
    expect(step(next, [sent])).toEqual(WAIT);
    expect(step(idle, [sent])).toEqual({ do: "type", message: sent });
  });

  test("sent while a message is being typed, or before the prompt of the start is taken, stops the turn of that", () => {
    const sent = message("b", { how, ...intentOf(idle, null, isTurnComing(idle, [{ ...a, state: "leased" }], NOW)) });
    expect(step(working, [sent])).toEqual({ do: "interrupt", message: sent });
    expect(step(next, [sent])).toEqual(WAIT);
    const prompted = amend(runningSession(), { identity: { launch: { ...idle.identity.launch, prompt: "hello" } } });
    expect([isTurnComing(prompted, [], NOW), isTurnComing(runningSession(), [], NOW)]).toEqual([true, false]);
  });

  test("sent while no turn was coming, stops none that somebody else begins", () => {
    const sent = admitted(idle, "b", { how });
    expect([isTurnComing(idle, [a], NOW), sent.intendedTurn]).toEqual([false, null]);
    expect(step(working, [sent])).toEqual(WAIT);
    expect(step(idle, [a, sent])).toEqual({ do: "type", message: sent });
  });

  test("goes ahead of what waits, and stops the turn that was under way when it was sent", () => {
    const sent = admitted(working, "b", { how });
    expect(step(working, [a, sent])).toEqual({ do: "interrupt", message: sent });
    expect(step(idle, [a, sent])).toEqual({ do: "type", message: sent });
    expect(step(idle, [a, sent, admitted(working, "c", { how })])).toEqual({ do: "type", message: sent });
  });

  test("does not stop the turn of a message that it overtook, nor holds an answer up", () => {
    const sent = admitted(idle, "b", { how });
    expect(step(working, [a, sent])).toEqual(WAIT);
    const answer = admitted(asking, "c");
    expect(step(asking, [a, sent, answer])).toEqual({ do: "type", message: answer });
  });

  test("is tried again after a while, by another daemon at once", () => {
    const sent = admitted(working, "a", { how });
    const interrupted = { messageId: "a", at: 9_000 };
    expect(step(working, [sent], { interrupted })).toEqual(again(14_000));
    expect(step(working, [sent], { interrupted, monotonic: 14_000 })).toEqual({ do: "interrupt", message: sent });
    expect(step(working, [sent], { interrupted: { ...interrupted, messageId: "z" } })).toMatchObject({
      do: "interrupt",
    });
  });

  test("of the version before stops nothing: which turn it meant is not known", () => {
    expect(step(working, [message("a", { how })])).toEqual(WAIT);
    expect(step(idle, [message("a", { how })])).toMatchObject({ do: "type" });
  });
});

describe("an answer", () => {
  test("is what was sent while the session asked, and overtakes what waited before", () => {
    const early = admitted(working, "a");
    const answer = admitted(asking, "b");
    expect(step(asking, [early])).toEqual(WAIT);
    expect(step(asking, [early, answer])).toEqual({ do: "type", message: answer });
    expect(step(asking, [early, answer, admitted(asking, "c")])).toEqual({ do: "type", message: answer });
  });

  test("is none to the next question, and waits its turn once nothing is asked", () => {
    const answer = admitted(asking, "b");
    const { activity } = asking.conversation;
    const other = amend(asking, {
      conversation: { activity: { ...activity, evidence: { ...activity.evidence, at: 9_999 } } },
    });
    expect(step(other, [a, answer])).toEqual(WAIT);
    expect(step(amend(asking, { conversation: { turns: 2 } }), [answer])).toEqual(WAIT);
    expect(step(idle, [a, answer])).toEqual({ do: "type", message: a });
    expect(step(idle, [answer])).toEqual({ do: "type", message: answer });
  });
});

function steer(): Message {
  return message("a", { how: "steer" });
}

function unreachable(session: Session): Session {
  return amend(session, { process: { liveness: { ...session.process.liveness, status: "unreachable" } } });
}

function promptAhead(): Session {
  return amend(idle, { identity: { launch: { ...idle.identity.launch, prompt: "begin" } } });
}

describe("usage limits", () => {
  const why = "the limit five_hour of claude work is reached";
  const resuming = amend(idle, { quota: { resume: { messageId: "a", turn: idle.conversation.turns } } });
  const busy = run(resuming, read({ turn: { phase: "started", id: "t" } })).session;
  const refused: NextStep = { do: "refuse", message: a };

  test.each<[string, Session, readonly Message[], Partial<Circumstances>, NextStep]>([
    ["a message waits for the reset", idle, [a], { parked: why }, again(70_000, why)],
    ["one for a turn under way does not", working, [steer()], { parked: why }, { do: "type", message: steer() }],
    ["Reeve goes on with a turn that failed", resuming, [a], {}, { do: "type", message: a }],
    ["not if another turn has begun", busy, [a], {}, refused],
    ["not if something else was asked of it", resuming, [a, b], {}, refused],
    ["not if somebody paused it", amend(resuming, { wish: { desired: "paused" } }), [a], {}, refused],
  ])("%s", (_what, session, open, circumstances, expected) => {
    expect(step(session, open, circumstances)).toEqual(expected);
  });

  test("an answer to a question does not wait", () => {
    const answer = admitted(asking, "a");
    expect(step(asking, [answer], { parked: why })).toEqual({ do: "type", message: answer });
  });
});
