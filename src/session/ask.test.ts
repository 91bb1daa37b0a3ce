import { expect, test } from "vitest";
import { isAsk } from "./ask.ts";

test("a wake is nobody's ask: a wait on the session stays about what was asked of it", () => {
  const message = { type: "message-admitted", messageId: "m", bytes: 5 } as const;
  expect(isAsk(message)).toBe(true);
  expect(isAsk({ ...message, isWake: true })).toBe(false);
});
