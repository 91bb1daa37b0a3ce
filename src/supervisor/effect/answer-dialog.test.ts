/** A dialog is answered by keys only while this very dialog is on the screen, and answered when it is gone. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Approval, Decision } from "../../session/approval.ts";
import type { InputStep } from "../../session/input.ts";
import type { Reading } from "../../session/reading.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { agentWith, type Ground, makeGround } from "../attention/watch-fixture.ts";
import { giveAnswer } from "./answer.ts";

const agent = agentWith({});

interface Shown {
  readonly id: string;
  readonly isSelected: boolean;
}

let clock: TestClock;
let ground: Ground;
/** The dialog on the screen; null: none. */
let shown: Shown | null;
/** Each key, and the stage of the answer when it was pressed. */
let pressed: [string, string | undefined][];

beforeEach(async () => {
  clock = makeTestClock();
  [shown, pressed] = [{ id: "dialog-trust-1", isSelected: false }, []];
  ground = await makeGround(agent, {}, undefined, clock);
  await ground.readings.take(ground.session(), readingOf(shown));
});
afterEach(() => ground.dispose());

function readingOf({ id, isSelected }: Shown): Reading {
  const requested = { id, kind: "other", title: "Trust?", subject: "/w", cwd: null, reason: null } as const;
  return {
    source: "screen",
    detail: "rule trust",
    activity: "awaiting-approval",
    asks: "Trust?",
    approval: { requested, choices: { approved: "Yes", denied: "No" } },
    answers: {
      approved: { move: isSelected ? null : "Down", keys: ["Enter"] },
      denied: { move: null, keys: ["Escape"] },
    },
  };
}

const openDialog = (): Approval | undefined => ground.session().conversation.approvals[0];
const outcome = () => ({
  settled: ground.events("approval-settled").map(({ decision, by }) => [decision, by]),
  failed: ground.events("approval-answer-failed").map(({ reason }) => reason.code),
});

/** `onKey` is what the agent does. */
async function answer(
  decision: Decision,
  onKey: (key: string) => void,
  isGiven = false,
  ledger: Ledger = ground.ledger,
): Promise<void> {
  const approvalId = openDialog()?.id ?? "";
  await ground.ledger.apply("s", { type: "answer", approvalId, decision });
  if (isGiven) await ground.ledger.apply("s", { type: "answer-given", incarnation: 1, approvalId });
  const runtime = {
    send: async (_target: unknown, steps: readonly InputStep[]) => {
      for (const step of steps) {
        const key = step.type === "key" ? step.key : step.type;
        pressed.push([key, openDialog()?.answer?.stage]);
        onKey(key);
      }
    },
  } as unknown as Runtime;
  const parts = {
    ...ground.parts,
    ledger,
    adapters: { agent: () => agent, runtime: () => runtime },
    attention: { channel: () => null, look: async () => (shown === null ? null : readingOf(shown)) },
    hasScreenRules: async () => true,
  };
  await clock.during(giveAnswer(parts, ground.session(), approvalId));
}

/** As it should: Down selects, Enter and Escape close. */
function agentDoes(key: string): void {
  shown = key === "Down" && shown !== null ? { ...shown, isSelected: true } : null;
}

describe("a dialog", () => {
  test("is confirmed after its choice was seen to be selected, and is settled when it is gone", async () => {
    await answer("approved", agentDoes);
    expect(pressed).toEqual([
      ["Down", "given"],
      ["Enter", "given"],
    ]);
    expect(outcome()).toEqual({ settled: [["approved", "system"]], failed: [] });
    expect(ground.session().conversation).toMatchObject({ approvals: [], activity: { status: "starting" } });
  });

  test("no key is pressed where that could not be committed, and the answer is still wanted", async () => {
    const refusing: Ledger = {
      ...ground.ledger,
      apply: (id, input, wish) =>
        input.type === "answer-given"
          ? Promise.reject(new Error("the disk is full"))
          : ground.ledger.apply(id, input, wish),
    };
    await expect(answer("approved", agentDoes, false, refusing)).rejects.toThrow("the disk is full");
    expect([pressed, outcome().failed, openDialog()?.answer?.stage]).toEqual([[], [], "wanted"]);
  });

  test("is denied by its own key", async () => {
    await answer("denied", agentDoes);
    expect([pressed, outcome()]).toEqual([[["Escape", "given"]], { settled: [["denied", "system"]], failed: [] }]);
  });

  test.each([
    ["that is gone", null],
    ["that has another text by now", { id: "dialog-trust-2", isSelected: true }],
  ])("%s gets no key", async (_what, instead) => {
    shown = instead;
    await answer("approved", agentDoes);
    expect([pressed, outcome()]).toEqual([[], { settled: [], failed: ["approval-not-on-screen"] }]);
    expect(openDialog()?.answer).toBeNull();
  });

  test("that changes when its choice is selected is not confirmed", async () => {
    await answer("approved", () => void (shown = { id: "dialog-trust-2", isSelected: true }));
    expect([pressed, outcome()]).toEqual([[["Down", "given"]], { settled: [], failed: ["dialog-not-confirmed"] }]);
  });

  test("whose choice cannot be selected is not confirmed", async () => {
    await answer("approved", () => undefined);
    expect([pressed, outcome()]).toEqual([[["Down", "given"]], { settled: [], failed: ["dialog-not-confirmed"] }]);
  });

  test("that stays after its key is not answered, and that is said", async () => {
    shown = { id: "dialog-trust-1", isSelected: true };
    await answer("approved", () => undefined);
    expect([pressed, outcome()]).toEqual([[["Enter", "given"]], { settled: [], failed: ["answer-unverified"] }]);
    expect(ground.events("approval-answer-failed")[0]?.reason.text).toContain("reeve attach");
  });

  test("that a daemon died over gets no second key: it is settled if it is gone, and unknown if not", async () => {
    await answer("approved", agentDoes, true);
    expect([pressed, outcome()]).toEqual([[], { settled: [], failed: ["answer-unknown"] }]);
    shown = null;
    await answer("approved", agentDoes, true);
    expect([pressed, outcome().settled]).toEqual([[], [["approved", "system"]]]);
  });
});
