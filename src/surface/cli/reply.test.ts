import { describe, expect, it } from "vitest";
import { beginOf, saidFrom } from "./reply.ts";
import type { Prompt } from "./reply.ts";
import type { MessageView } from "./transcript-text.ts";

const SENT = "2026-11-16T12:00:00.000Z";
const EARLIER = "2026-11-16T11:59:59.000Z";
const LATER = "2026-11-16T12:00:01.000Z";

const said = (role: MessageView["role"], text: string, at: string | null = LATER): MessageView => ({
  role,
  text,
  tool: null,
  usage: null,
  at,
  turn: null,
});

function replyIn(messages: readonly MessageView[], prompt: Prompt, isLast = false): readonly string[] | null {
  const begin = beginOf(messages, prompt, isLast);
  return begin === null ? null : saidFrom(messages, begin).map(({ text }) => text);
}

describe("the reply to a message", () => {
  const earlier = [said("user", "go on", EARLIER), said("assistant", "old", EARLIER)];

  it("is what follows it, up to the next prompt", () => {
    const messages = [
      ...earlier,
      said("user", "go  on\n"),
      said("assistant", "new"),
      said("user", "x"),
      said("assistant", "y"),
    ];
    expect(replyIn(messages, { text: "go on", since: SENT })).toEqual(["new"]);
  });

  it("is not there while only an earlier message with the same text is", () => {
    expect(replyIn(earlier, { text: "go on", since: SENT })).toBeNull();
    expect(replyIn(earlier, { text: "go on", since: SENT }, true)).toBeNull();
  });

  it("is, in the end, that to the last prompt since, where the agent altered it", () => {
    const messages = [...earlier, said("user", "> go on"), said("assistant", "new")];
    expect(replyIn(messages, { text: "go on", since: SENT })).toBeNull();
    expect(replyIn(messages, { text: "go on", since: SENT }, true)).toEqual(["new"]);
  });

  it("is all there is where the prompt was cut off", () => {
    expect(replyIn([said("assistant", "end of it")], { text: "go on", since: SENT }, true)).toEqual(["end of it"]);
  });

  it("goes by the text alone where the agent writes no time", () => {
    const messages = [said("user", "go on", null), said("assistant", "new", null)];
    expect(replyIn(messages, { text: "go on", since: SENT })).toEqual(["new"]);
  });
});
