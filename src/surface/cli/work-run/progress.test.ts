import { expect, test } from "vitest";
import type { EventView } from "../../../client/operation-types.ts";
import type { Output } from "../output.ts";
import type { Plan } from "./carry-out.ts";
import { createProgress, pictureOf } from "./progress.ts";

const NO_STATES = {
  pending: 0,
  "in-progress": 0,
  built: 0,
  "changes-requested": 0,
  approved: 0,
  finalised: 0,
};
const plan = (given: Partial<Plan> = {}): Plan => ({
  steps: [],
  held: [],
  blocked: 0,
  queued: 0,
  open: 0,
  states: NO_STATES,
  workers: [],
  verify_timeout_seconds: 600,
  cursor: 1,
  ...given,
});
const worker = {
  session_id: "s1",
  session: "claude-1",
  activity: "working",
  pooled: true,
  work_id: "w",
  title: "Parser",
};
const changed = (data: Record<string, unknown>): EventView => ({
  seq: 1,
  at: "",
  session_id: null,
  caller: "operator",
  type: "work-changed",
  data,
});

function printed(isTerminal: boolean): { readonly output: Output; readonly text: () => string } {
  let text = "";
  const print = (more: string): void => void (text += more);
  const output = { print, isTerminal, width: 80, hasColour: false } as Partial<Output> as Output;
  return { output, text: () => text };
}

test("the picture: how far everything is, and what each worker does", () => {
  const states = { ...NO_STATES, "in-progress": 1, built: 1 };
  const free = { ...worker, session_id: "s2", session: "claude-2", activity: "idle", work_id: null, title: null };
  expect(pictureOf(plan({ states, workers: [worker, free], blocked: 3 }), [], 12, 1)).toEqual([
    "12 done, 1 failed, 1 at work, 1 built, 3 waiting for others",
    "  claude-1  working  Parser",
    "  claude-2  idle  free",
  ]);
  expect(pictureOf(plan(), [], 0, 0)).toEqual(["The queue is empty."]);
});

test("elsewhere than on a terminal: a line for each change, without escape sequences", () => {
  const { output, text } = printed(false);
  const progress = createProgress(output, false);
  progress.shows(plan({ workers: [worker] }), []);
  progress.happened(changed({ work_id: "w", title: "Parser\u001B[2J", state: "in-progress", worker: "s1", why: null }));
  progress.happened(changed({ work_id: "w", title: "Parser", state: "failed", worker: null, why: "It is\nwrong." }));
  progress.close();
  expect(text()).toBe("w  in-progress        Parser (claude-1)\nw  failed             Parser: It is wrong.\n");
  expect([...progress.failed]).toEqual([["w", "It is\nwrong."]]);
});

test("with --json nothing is shown, and still counted", () => {
  const { output, text } = printed(true);
  const progress = createProgress(output, true);
  progress.happened(changed({ work_id: "w", title: "Parser", state: "done" }));
  progress.shows(plan(), []);
  progress.close();
  expect([text(), [...progress.done]]).toEqual(["", ["w"]]);
});
