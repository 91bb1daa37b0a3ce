/** What is typed on the board and not taken is not lost. */
import { expect, test } from "vitest";
import type { Client } from "../../client/create-client.ts";
import { act, underWay } from "./act.ts";

const here = () => ({ cwd: "/", environment: {} });
const refusing = {
  startSession: () => Promise.reject(new Error('There is no agent "claud"; did you mean claude?')),
  sendMessage: () => Promise.reject(new Error("The session has ended.")),
} as unknown as Client;

test("a prompt for an agent that does not exist stands there again, with what is wrong", async () => {
  const done = await act(refusing, { type: "start", agent: "claud", prompt: "a long prompt" }, here);
  expect(done).toMatchObject({
    notice: { text: 'There is no agent "claud"; did you mean claude? Press n to correct it.', isBad: true },
    typed: { type: "new", line: { before: "claud a long prompt" } },
  });
});

test("so does a reply that was not taken, and what takes long says at once that it is under way", async () => {
  const reply = { type: "reply", session: "s", text: "yes, do" } as const;
  expect(await act(refusing, reply, here)).toMatchObject({
    typed: { type: "reply", session: "s", line: { before: "yes, do" } },
  });
  expect(underWay(reply)).toBe("Sending the reply…");
  expect(underWay({ type: "pause", session: "s" })).toBeNull();
});
