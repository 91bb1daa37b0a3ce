import { expect, test } from "vitest";
import { MOST_WAITING, MOST_WAITING_BYTES, requireRoomToWait } from "./waiting-messages.ts";

const waiting = (count: number, text: string) => Array.from({ length: count }, () => ({ text }));
const megabyte = "x".repeat(1_048_576);

test("so many messages may wait, and so many bytes of them", () => {
  expect(() => requireRoomToWait("fix", waiting(MOST_WAITING - 1, "go on"), "go on")).not.toThrow();
  expect(() => requireRoomToWait("fix", waiting(MOST_WAITING, "go on"), "go on")).toThrow("500 messages");
  expect(() => requireRoomToWait("fix", waiting(7, megabyte), megabyte)).not.toThrow();
  expect(() => requireRoomToWait("fix", waiting(7, megabyte), "é".repeat(MOST_WAITING_BYTES / 16 + 1))).toThrow("8 MB");
});
