/** An answer is given once, and only to the question that is on the screen. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { Channel } from "../../agent/contract.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Approval, ApprovalRequest } from "../../session/approval.ts";
import type { InputStep } from "../../session/input.ts";
import type { Reading } from "../../session/reading.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { agentWith, type Ground, makeGround } from "../attention/watch-fixture.ts";
import { giveAnswer } from "./answer.ts";

const agent = agentWith({
  encodeAnswer: (_approval, decision) => [{ type: "key", key: decision === "approved" ? "y" : "n" }],
  shownOf: ({ subject }) => (subject === null ? [] : [subject]),
});

let clock: TestClock;
let ground: Ground;
/** Keys that were pressed, each with the stage of the answer at that moment. */
let pressed: { readonly steps: readonly InputStep[]; readonly stage: string | undefined }[];
/** The dialog on the screen; null: none. */
let dialog: string | null;
let hasRules: boolean;
let channel: Channel | null;
/** Instead of the real one. */
let ledger: Ledger | null;

beforeEach(async () => {
  clock = makeTestClock();
  [pressed, dialog, hasRules, channel, ledger] = [[], null, true, null, null];
  ground = await makeGround(agent, {}, undefined, clock);
  await read({ turn: { phase: "started", id: "t" } });
});
afterEach(() => ground.dispose());

const read = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });
const request = (id: string, subject: string): ApprovalRequest => ({
  id,
  kind: "command",
  title: subject,
  subject,
  cwd: null,
  reason: null,
});
const ask = (id: string, subject: string): Promise<void> =>
  read({ activity: "awaiting-approval", asks: subject, approval: { requested: request(id, subject) } });
const approvalOf = (id: string): Approval | undefined =>
  ground.session().conversation.approvals.find((open) => open.id === id);
const settled = (id: string): Promise<void> =>
  read({ activity: "working", approval: { settled: { id, decision: "approved" } } });

async function approve(id: string, afterKey: () => Promise<void> = () => settled(id)): Promise<void> {
  await ground.ledger.apply("s", { type: "answer", approvalId: id, decision: "approved" });
  await give(id, afterKey);
}

async function give(id: string, afterKey: () => Promise<void>): Promise<void> {
  const runtime = {
    send: async (_target: unknown, steps: readonly InputStep[]) => {
      pressed.push({ steps, stage: approvalOf(id)?.answer?.stage });
      await afterKey();
    },
  } as unknown as Runtime;
  const given = giveAnswer(
    {
      ...ground.parts,
      ledger: ledger ?? ground.ledger,
      adapters: { agent: () => agent, runtime: () => runtime },
      attention: {
        channel: () => channel,
        look: async () =>
          dialog === null ? null : { source: "screen", detail: "a rule", activity: "awaiting-approval", dialog },
      },
      hasScreenRules: async () => hasRules,
    },
    ground.session(),
    id,
  );
  await clock.during(given);
}
/** Cannot commit that an answer may have been given; `isKept`: it was kept, but that is not known. */
function refusingToCommit(real: Ledger, { isKept = false } = {}): Ledger {
  return {
    ...real,
    apply: async (id, input, wish) => {
      if (input.type !== "answer-given" || isKept) await real.apply(id, input, wish);
      if (input.type === "answer-given") throw new Error("the disk is full");
      return ground.session();
    },
  };
}
const failures = (): readonly (string | undefined)[] =>
  ground.events("approval-answer-failed").map(({ reason }) => reason.code);
const ONCE = [{ steps: [{ type: "key", key: "y" }], stage: "given" }];

describe("an answer", () => {
  test("is pressed once, after it was committed that it may be", async () => {
    await ask("q", "rm -rf build");
    dialog = "Run rm -rf build?";
    await approve("q");
    expect([pressed, failures(), ground.session().conversation.approvals]).toEqual([ONCE, [], []]);
  });

  test("is not pressed while its question is not on the screen", async () => {
    await ask("q", "rm -rf build");
    await approve("q");
    expect([pressed, failures()]).toEqual([[], ["approval-not-on-screen"]]);
    expect(approvalOf("q")?.answer).toBeNull();
  });

  test("is not pressed on another question, which is named", async () => {
    await ask("q", "rm -rf build");
    await ask("r", "git push --force");
    dialog = "Run git push --force?";
    await approve("q");
    expect([pressed, failures()]).toEqual([[], ["another-approval-on-screen"]]);
    expect(ground.events("approval-answer-failed")[0]?.reason.text).toContain("It is r (git push --force).");
  });

  test.each([
    ["the shorter", "q", "Run npm test?"],
    ["the longer", "r", "Run npm test -- --watch?"],
  ])(
    "of two that begin alike, %s is answered when it is on the screen, and not the other",
    async (_which, id, shown) => {
      await ask("q", "npm test");
      await ask("r", "npm test -- --watch");
      dialog = shown;
      const other = id === "q" ? "r" : "q";
      await approve(other);
      expect([pressed, failures()]).toEqual([[], ["another-approval-on-screen"]]);
      expect(ground.events("approval-answer-failed")[0]?.reason.text).toContain(`It is ${id} (`);
      await approve(id, () => read({ approval: { settled: { id, decision: "approved" } } }));
      expect([pressed, ground.session().conversation.approvals.map((open) => open.id)]).toEqual([ONCE, [other]]);
    },
  );

  test("of several, the next question on the screen tells that it was taken", async () => {
    await ask("q", "rm -rf build");
    await ask("r", "git push --force");
    dialog = "Run rm -rf build?";
    await approve("q", async () => void (dialog = "Run git push --force?"));
    expect([pressed, failures(), ground.session().conversation.approvals.map(({ id }) => id)]).toEqual([
      ONCE,
      [],
      ["r"],
    ]);
  });

  test("that the agent does not take is told, and not pressed again", async () => {
    await ask("q", "rm -rf build");
    dialog = "Run rm -rf build?";
    await approve("q", async () => undefined);
    expect([pressed, failures()]).toEqual([ONCE, ["answer-unverified"]]);
  });

  test("that a daemon died over is not pressed again, and told as what may not have been given", async () => {
    await ask("q", "rm -rf build");
    dialog = "Run rm -rf build?";
    await ground.ledger.apply("s", { type: "answer", approvalId: "q", decision: "approved" });
    await ground.ledger.apply("s", { type: "answer-given", incarnation: 1, approvalId: "q" });
    await give("q", async () => undefined);
    expect([pressed, failures()]).toEqual([[], ["answer-unknown"]]);
    expect(approvalOf("q")?.answer).toBeNull();
  });

  test("whose commit failed is not pressed and not told as failed: it is still wanted, and tried again", async () => {
    await ask("q", "rm -rf build");
    dialog = "Run rm -rf build?";
    ledger = refusingToCommit(ground.ledger);
    await expect(approve("q")).rejects.toThrow("the disk is full");
    expect([pressed, failures(), approvalOf("q")?.answer?.stage]).toEqual([[], [], "wanted"]);
    ledger = null;
    await give("q", () => settled("q"));
    expect([pressed, failures()]).toEqual([ONCE, []]);
  });

  test("whose commit took effect although it failed is not pressed a second time", async () => {
    await ask("q", "rm -rf build");
    dialog = "Run rm -rf build?";
    ledger = refusingToCommit(ground.ledger, { isKept: true });
    await expect(approve("q")).rejects.toThrow("the disk is full");
    ledger = null;
    await give("q", async () => undefined);
    expect([pressed, failures()]).toEqual([[], ["answer-unknown"]]);
  });

  test("without screen rules goes to the question that was asked first, and to no other", async () => {
    hasRules = false;
    await ask("q", "rm -rf build");
    await ask("r", "git push --force");
    await approve("r");
    expect([pressed, failures()]).toEqual([[], ["approval-not-answerable"]]);
    await approve("q");
    expect(pressed).toEqual(ONCE);
  });

  test("goes over the agent's own protocol where it knows the question", async () => {
    await ground.dispose();
    const watch = { mode: "app-server", text: "", version: null, socket: "/socket", statusDir: null, capture: null };
    ground = await makeGround(agent, { watch }, undefined, clock);
    await read({ turn: { phase: "started", id: "t" } });
    await ask("q", "rm -rf build");
    const answered: unknown[] = [];
    channel = {
      lacks: () => null,
      answer: async (id: string, decision: string) => {
        answered.push([id, decision, approvalOf(id)?.answer?.stage]);
        await settled(id);
        return "told";
      },
    } as unknown as Channel;
    ledger = refusingToCommit(ground.ledger);
    await expect(approve("q")).rejects.toThrow("the disk is full");
    expect([answered, failures()]).toEqual([[], []]);
    ledger = null;
    await give("q", async () => undefined);
    expect([answered, pressed, failures()]).toEqual([[["q", "approved", "given"]], [], []]);
  });
});
