/** What is typed on the board and not taken is not lost. */
import { expect, test } from "vitest";
import type { Client } from "../../client/create-client.ts";
import { act, underWay } from "./act.ts";
import { session } from "./board-fixture.ts";

const here = () => ({ cwd: "/", environment: {} });
const done = (name: string, isDone = true) => ({ done: isDone, note: null, session: session(name) });
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
    typed: { type: "reply", sessions: ["s"], line: { before: "yes, do" } },
  });
  expect(underWay(reply)).toBe("Sending the reply…");
  expect(underWay({ type: "pause", session: "s" })).toBeNull();
});

test("of several, each that it did not work for is told by its name, and each reason once", async () => {
  const client = {
    interruptSession: ({ session: id }: { session: string }) =>
      id.startsWith("bad") ? Promise.reject(new Error("It has ended.")) : Promise.resolve(done(id, id !== "slow")),
  } as unknown as Client;
  const names = ["a", "bad-1", "slow", "b", "bad-2"];
  const wish = {
    type: "each",
    of: names.map((name) => ({ name, wish: { type: "interrupt", session: name } as const })),
  } as const;
  expect(underWay(wish)).toBe("Asking 5 sessions…");
  expect(await act(client, wish, here)).toEqual({
    notice: {
      text: "Interrupted 2 of 5 sessions. Still under way: slow. Failed for bad-1, bad-2: It has ended.",
      isBad: true,
    },
  });
  expect(await act(client, { ...wish, of: [wish.of[0], wish.of[3]] as never }, here)).toEqual({
    notice: { text: "Interrupted 2 of 2 sessions.", isBad: false },
  });
});

test("what was sent to several stands there again for those that did not take it", async () => {
  const reply = (name: string) => ({ name, wish: { type: "reply", session: `${name}-id`, text: "stop" } as const });
  const sent = await act(refusing, { type: "each", of: [reply("x"), reply("y")] }, here);
  expect(sent).toMatchObject({
    notice: { text: "Sent to 0 of 2 sessions. Failed for x, y: The session has ended." },
    typed: { type: "reply", sessions: ["x-id", "y-id"], line: { before: "stop" } },
  });
});

test("what may have arrived does not stand there again", async () => {
  const client = {
    sendMessage: ({ session: id }: { session: string }) =>
      id === "x"
        ? Promise.resolve({ state: "unknown", detail: null, warning: null })
        : Promise.reject(new Error("The session has ended.")),
  } as unknown as Client;
  const reply = (name: string) => ({ name, wish: { type: "reply", session: name, text: "stop" } as const });
  const sent = await act(client, { type: "each", of: [reply("x"), reply("y")] }, here);
  expect(sent.notice.text).toMatch(/^Sent to 0 of 2 sessions\. Failed for x: It is not known .* Failed for y: /);
  expect(sent.typed).toMatchObject({ sessions: ["y"] });
});

test("an interrupt says whether the turn was, is being or could not be interrupted", async () => {
  const says = async (outcome: object) => {
    const client = { interruptSession: () => Promise.resolve(outcome) } as unknown as Client;
    return (await act(client, { type: "interrupt", session: "s" }, here)).notice;
  };
  expect(await says(done("s"))).toEqual({ text: "The turn of s was interrupted.", isBad: false });
  expect(await says(done("s", false))).toEqual({ text: "The turn of s is being interrupted.", isBad: false });
  expect(await says({ ...done("s", false), note: "It goes on." })).toEqual({ text: "It goes on.", isBad: true });
  expect(await says({ ...done("s"), note: "No turn was under way." })).toEqual({
    text: "No turn was under way.",
    isBad: false,
  });
});
