import { expect, test } from "vitest";
import { applyReading } from "./apply-reading.ts";
import type { Reading } from "./reading.ts";
import { runningSession } from "./run-inputs.ts";
import { context } from "./session-fixture.ts";

const said = (reading: Partial<Reading>): Reading => ({ source: "transcript", detail: "line", ...reading });

function run(...readings: readonly Reading[]) {
  let session = runningSession();
  const events = readings.flatMap((reading) => {
    const change = applyReading(session, reading, context);
    ({ session } = change);
    return change.events;
  });
  return { conversation: session.conversation, events };
}

test("the first model and mode are no news; a change is, once, with what was before", () => {
  const { conversation, events } = run(
    said({ setup: { model: "a", mode: "default" } }),
    said({ setup: { model: "a" } }),
    said({ setup: { model: "b" } }),
    said({ setup: { mode: "plan" } }),
    said({ setup: { model: "b", mode: "plan" } }),
  );
  expect(conversation).toMatchObject({ model: "b", askMode: "plan" });
  expect(events).toMatchObject([
    { type: "model-changed", from: "a", to: "b" },
    { type: "mode-changed", from: "default", to: "plan" },
  ]);
});

test("what a continued transcript tells of before there was the session is noted, and not told", () => {
  const before = runningSession().identity.createdAt - 1;
  const { conversation, events } = run(
    said({ setup: { model: "a", at: before } }),
    said({ setup: { model: "b", at: before } }),
    said({ compacted: { at: before } }),
  );
  expect(conversation.model).toBe("b");
  expect(events).toEqual([]);
});

test("that its tools came late is told, each time it was so", () => {
  const { events } = run({ source: "hook", detail: "not after 5 s", toolsLate: true });
  expect(events).toMatchObject([{ type: "tools-late", evidence: { detail: "not after 5 s" } }]);
});

test("each compaction is told", () => {
  const { events } = run(said({ compacted: {} }), said({ compacted: { at: runningSession().identity.createdAt } }));
  expect(events.map(({ type }) => type)).toEqual(["conversation-compacted", "conversation-compacted"]);
});
