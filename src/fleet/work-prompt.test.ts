import { expect, test } from "vitest";
import { workCondition } from "./work-condition.ts";
import { workItem } from "./work-fixture.ts";
import { promptOf } from "./work-prompt.ts";

test("a worker is told what to do, what a review asked for, and how to report", () => {
  const closing =
    'This is work item work-one of Reeve. When you have done it, say so in a sentence or two: with the tool change_work (change: built), or in the shell with reeve work built work-one "what you did". If it cannot be done, use fail instead of built and say why.';
  expect(promptOf(workItem())).toBe(`Write the parser\n\nIt reads lines.\n\n${closing}`);
  const reviewed = {
    verdict: "changes-requested",
    text: "Name it better",
    commit: null,
    by: "operator",
    at: 3,
  } as const;
  expect(promptOf(workItem({ body: "", state: "changes-requested", reviewed }))).toBe(
    `Write the parser\n\nThis was done before, and a review asked for changes:\nName it better\n\n${closing}`,
  );
});

test("the operator is told of an item that failed, once for each time", () => {
  expect(workCondition(workItem())).toBeNull();
  const failed = workItem({ state: "failed", failures: 3, why: "Session anna is gone.", changedAt: 7 });
  expect(workCondition(failed)).toMatchObject({
    kind: "work",
    urgency: "failed",
    title: "Work failed: Write the parser",
    happened: "The work item work-one failed. Session anna is gone.",
    did: "It was given out 3 times. Reeve does not give it out again by itself.",
    sinceAt: 7,
  });
  expect(workCondition({ ...failed, changedAt: 8 })?.id).not.toBe(workCondition(failed)?.id);
});
