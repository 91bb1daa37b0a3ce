import { expect, test } from "vitest";
import { ReeveError } from "../../../platform/reeve-error.ts";
import type { Step } from "./carry-out.ts";
import { createTroubles } from "./trouble.ts";

const step = (given: Partial<Step> = {}): Step => ({
  action: "dispatch",
  text: "",
  work_id: "work-a",
  title: "Parser",
  session_id: null,
  session: null,
  revision: 1,
  turns: 0,
  agent: "practice",
  cwd: "/",
  branch: null,
  message: null,
  verify: null,
  commit: null,
  ...given,
});
const refusal = (code: string) => new ReeveError({ code, kind: "conflict", message: `no: ${code}` });

function ground() {
  let now = 0;
  const troubles = createTroubles({ monotonic: () => now });
  return { troubles, pass: (ms: number) => void (now += ms) };
}

test("what another run did first is asked for again soon, and nobody is told", () => {
  const { troubles, pass } = ground();
  for (let tries = 0; tries < 5; tries += 1) {
    expect(troubles.note(step(), refusal("work-changed"))).toBeNull();
    expect([troubles.isWaiting(step()), troubles.excepted()]).toEqual([true, ["work-a"]]);
    pass(200);
    expect([troubles.isWaiting(step()), troubles.excepted()]).toEqual([false, []]);
  }
  expect([troubles.mayPass(), troubles.lasting()]).toEqual([true, []]);
  troubles.prune([]);
  expect(troubles.mayPass()).toBe(false);
});

test("a pause that has passed since the queue was asked is no reason to wait for an event", () => {
  const { troubles, pass } = ground();
  troubles.note(step(), refusal("too-many-workers"));
  expect(troubles.nextMs()).toBe(200);
  // The answer came so late that the item, which was left out of the question, may be tried now.
  pass(250);
  expect(troubles.nextMs()).toBe(0);
  // One that is being tried says itself when that is over.
  expect(troubles.nextMs(() => true)).toBeNull();
  troubles.prune([]);
  expect(troubles.nextMs()).toBeNull();
});

test("anything else is told once, tried after a growing pause, and lasts from the second time on", () => {
  const { troubles, pass } = ground();
  expect(troubles.note(step(), refusal("no-directory"))).toMatchObject({ workId: "work-a", text: "no: no-directory" });
  expect([troubles.mayPass(), troubles.nextMs()]).toEqual([true, 2_000]);
  pass(2_000);
  expect(troubles.note(step(), refusal("no-directory"))).toBeNull();
  expect([troubles.mayPass(), troubles.nextMs()]).toEqual([false, 4_000]);
  expect(troubles.lasting()).toMatchObject([{ workId: "work-a", tries: 2 }]);
  // The same item after a change is another matter.
  expect(troubles.isWaiting(step({ revision: 2 }))).toBe(false);
  troubles.settle(step());
  expect(troubles.lasting()).toEqual([]);
});

test("without a daemon nothing goes on", () => {
  const { troubles } = ground();
  expect(() => troubles.note(step(), refusal("daemon-lost"))).toThrow("no: daemon-lost");
});
