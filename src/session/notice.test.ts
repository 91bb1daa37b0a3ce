import { describe, expect, it } from "vitest";
import type { Input } from "./input.ts";
import { isUnseen, lastLine, lastSentence, lastWords } from "./notice.ts";
import { context, evidence, place, plannedSession, shown } from "./session-fixture.ts";
import type { Session } from "./session.ts";
import { transition } from "./transition.ts";

function after(...inputs: readonly Input[]): { readonly session: Session; readonly types: readonly string[] } {
  let session = plannedSession();
  const types: string[] = [];
  for (const input of inputs) {
    const outcome = transition(session, input, context);
    if (outcome.refused !== null) throw new Error(outcome.refused.message);
    session = outcome.session;
    types.push(...outcome.events.map(({ type }) => type));
  }
  return { session, types };
}

const created: Input = { type: "created", incarnation: 1, place, shown, evidence };
const turn = (phase: "started" | "completed"): Input => ({
  type: "read",
  incarnation: 1,
  reading: { source: "hook", detail: phase, turn: { phase } },
});
const said = (text: string | null): Input => ({
  type: "read-transcript",
  incarnation: 1,
  readings: [],
  cursor: { identity: "1", offset: 1, isInLongLine: false },
  said: text,
});

describe("seen", () => {
  it("is an event, once, and changes nothing but that", () => {
    const { session: ended } = after(created, turn("started"), turn("completed"));
    expect(isUnseen(ended)).toBe(true);
    const seen = transition(ended, { type: "seen", revision: ended.revision }, context);
    expect(seen).toMatchObject({ refused: null, events: [{ type: "session-seen" }] });
    if (seen.refused !== null) return;
    expect({ ...seen.session, notice: ended.notice, revision: ended.revision }).toEqual(ended);
    expect(isUnseen(seen.session)).toBe(false);
    expect(transition(seen.session, { type: "seen", revision: 99 }, context)).toMatchObject({ events: [] });
  });

  it("is about what was shown: what happened since stays unseen", () => {
    const { session: shownThen } = after(created, turn("started"), turn("completed"));
    const { session } = after(created, turn("started"), turn("completed"), turn("started"), turn("completed"));
    const late = transition(session, { type: "seen", revision: shownThen.revision }, context);
    expect(late).toMatchObject({ events: [], session: { notice: session.notice } });
  });

  it("a death that somebody asked for is no news", () => {
    const exited: Input = { type: "found-exited", incarnation: 1, code: 1, signal: null, evidence };
    expect(isUnseen(after(created, exited).session)).toBe(true);
    expect(isUnseen(after(created, { type: "end", graceMs: 0, afterTurn: false }, exited).session)).toBe(false);
  });
});

describe("what it said last", () => {
  it("goes when it is asked something new, in the order of its transcript", () => {
    expect(after(created, said("Done it."), turn("started")).session.notice.said).toBe("Done it.");
    expect(after(created, said("Done it."), said(null)).session.notice.said).toBeNull();
  });

  it.each([
    ["One. The tests pass now, all 12 of them.", "The tests pass now, all 12 of them."],
    ["I fixed the parser.\n\n- Changed a.ts\n- Shall I commit this change?\n", "Shall I commit this change?"],
    ["I changed three files. Done.", "I changed three files. Done."],
    ["Here it is:\n```ts\nconst a = 1;\n```", "Here it is: const a = 1;"],
    ["", null],
    ["```\n---\n", null],
  ])("of %j is %j", (text, sentence) => {
    expect(lastSentence(text)).toBe(sentence);
  });

  it("is bounded", () => {
    expect(lastSentence("word ".repeat(1_000))).toHaveLength(240);
    expect(lastLine(`first\n  Error:   bad\n\n  ----  \n`)).toBe("Error: bad");
    expect(lastLine("\n \n")).toBeNull();
    const stack = '/x.js:1\nthrow new Error("boom")\n\nError: boom\n    at main (/x.js:1:7)\n\nNode.js v24.21.0\n';
    expect([lastLine(stack), lastWords(stack)]).toEqual(["Node.js v24.21.0", "Error: boom"]);
    expect(lastWords("ValueError: bad\nbye\n")).toBe("ValueError: bad");
    expect(lastWords("│ Error (E1): no model │\n> Type your message\n")).toBe("Error (E1): no model");
    expect(lastWords("no errors here\nbye\n")).toBe("bye");
    expect(lastLine("╭──────╮\n│ Not logged in   │\n╰──────╯")).toBe("Not logged in");
  });
});

it("a session gets another name, and the log says which it had", () => {
  const { session, types } = after(created, { type: "rename", name: "other" });
  expect(session.identity.name).toBe("other");
  expect(types).toContain("session-renamed");
});
