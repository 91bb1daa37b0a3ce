import { expect, test } from "vitest";
import { makeTestClock } from "../../test/support/test-clock.ts";
import type { Caller } from "../session/caller.ts";
import type { Refusal } from "./contract.ts";
import { createScheduler } from "./ledger/scheduler.ts";
import { createRefusals } from "./refusals.ts";

const MINUTE_MS = 60_000;
const worker: Caller = { kind: "session", id: "worker" };

function make() {
  const clock = makeTestClock();
  const told: (readonly [string | null, string | null, number | undefined])[] = [];
  const refusals = createRefusals({
    scheduler: createScheduler({ clock, log: () => undefined, observe: async () => undefined }),
    record: (event, caller) => {
      if (event.type === "call-refused")
        told.push([caller?.kind === "session" ? caller.id : null, event.target, event.times]);
    },
  });
  const refuse = (caller: Caller | null, target: string, code = "not-allowed"): void => {
    const refusal: Refusal = { operation: "end_session", target, code, why: "no" };
    refusals.note(caller, refusal);
  };
  return { clock, refusals, refuse, told };
}

test("the first refusals are told at once, and further repeats as one number", async () => {
  const { clock, refuse, told } = make();
  for (let count = 0; count < 1_000; count += 1) refuse(worker, "boss");
  refuse(null, "boss", "no-pass");
  const once = ["worker", "boss", undefined];
  expect(told).toEqual([once, once, once, [null, "boss", undefined]]);
  await clock.advance(10 * MINUTE_MS);
  expect(told.slice(4)).toEqual([["worker", "boss", 997]]);
  refuse(worker, "boss");
  expect(told).toHaveLength(6);
});

test("refusals that are all different are told apart only as far as that is bounded", async () => {
  const { clock, refuse, told } = make();
  for (let count = 0; count < 5_000; count += 1) refuse(null, `guess-${count}`, "unknown-pass");
  refuse(worker, "boss");
  expect(told).toHaveLength(101);
  await clock.advance(10 * MINUTE_MS);
  expect(told.slice(101)).toEqual([[null, "guess-4999", 4_900]]);
});

test("what is counted is told when the daemon stops", () => {
  const { refusals, refuse, told } = make();
  for (let count = 0; count < 5; count += 1) refuse(worker, "boss");
  refusals.tell();
  refusals.tell();
  expect(told.slice(3)).toEqual([["worker", "boss", 2]]);
});
