import { expect, test } from "vitest";
import { amend } from "./amend.ts";
import type { Input } from "./input.ts";
import { run } from "./run-inputs.ts";
import { evidence, place, plannedSession, shown } from "./session-fixture.ts";

const anew: Input = { type: "created", incarnation: 1, place, shown, evidence, isAnew: true };

test.each([
  [0, /new conversation: there was nothing to resume yet\.$/],
  [1, /new conversation: the earlier one held nothing that could be resumed\.$/],
])("a session that is started again and resumes nothing says so (turns: %i)", (turns, says) => {
  const { events } = run(amend(plannedSession(), { conversation: { turns } }), anew);
  expect(events).toMatchObject([{ reason: { code: "new-conversation", text: expect.stringMatching(says) as string } }]);
});
