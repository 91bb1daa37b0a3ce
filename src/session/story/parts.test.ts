import { describe, expect, test } from "vitest";
import type { Fields } from "../../platform/json-fields.ts";
import { createApiReader } from "./api-part.ts";
import { logLine, logParts } from "./log-part.ts";
import { pageOf, parseCursor } from "./page.ts";
import { parseEntry } from "./parse-entry.ts";
import { asLines, at, event, exchange, line } from "./story-fixture.ts";
import { tellStory } from "./tell-story.ts";
import { type SaidMessage, transcriptParts } from "./transcript-part.ts";

function readLines(text: string): readonly Fields[] {
  return text
    .split("\n")
    .map(logLine)
    .filter((one) => one !== null);
}

describe("the log", () => {
  test("an event is told once, whether the log, session.log or session_meta.log has it; unknown kinds are told as they are", () => {
    const parts = logParts({
      events: [
        event(1, 0, "session-planned", { name: "b", agent: "codex", role: "r" }, "operator"),
        event(3, 2, "turn-started", { turn: 1 }),
      ],
      logged: readLines(
        asLines([
          line(1, 0, 100, "session-planned", { data: {} }),
          line(2, 1, 101, "session-running", { data: { reason: { text: "Running." } } }),
          line(2, 1, 101, "log", { message: "a line of the daemon" }),
          line(3, 2, 102, "turn-started", { data: { turn: 1 } }),
        ]),
      ),
      meta: readLines(
        asLines([
          line(4, 3, 103, "model-changed", { actor: "terminal", turn: 1, from: "a", to: "b" }),
          line(5, 4, 104, "from-the-future", { actor: "agent", turn: null, x: 1 }),
        ]),
      ),
    });
    expect(parts.map(({ seq, type, actor, mono, kind, turn }) => [seq, type, actor, mono, kind, turn])).toEqual([
      [1, "session-planned", "operator", 100_000, "session", null],
      [2, "session-running", "reeve", 101_000, "session", null],
      [3, "turn-started", "agent", 102_000, "turns", 1],
      [4, "model-changed", "terminal", 103_000, "session", 1],
      [5, "from-the-future", "agent", 104_000, "session", null],
    ]);
    expect(parts[4]?.data).toEqual({ turn: null, x: 1 });
    expect(parts.slice(3).map(({ what }) => what)).toEqual(["its model was a, now it is b", "from the future"]);
  });

  test("torn lines and lines of others are none", () => {
    const whole = JSON.stringify(line(1, 0, 1, "request"));
    for (let cut = 0; cut < whole.length; cut += 1) expect(logLine(whole.slice(0, cut))).toBeNull();
    for (const other of [
      "",
      "null",
      "[]",
      "7",
      '{"v":2,"kind":"x","seq":1}',
      '{"v":1,"kind":"x","seq":1,"at":"never"}',
    ])
      expect(logLine(other)).toBeNull();
    expect(logLine(whole)).not.toBeNull();
  });

  test("who answered an approval, and mail in both directions", () => {
    const mail = { at: at(5), kind: "note", subject: "Ready", body: "All green." };
    const parts = logParts({
      events: [
        event(1, 0, "approval-settled", {
          approval_id: "a",
          title: "rm",
          decision: "denied",
          by: "operator",
          rule: "no-rm",
        }),
        event(2, 1, "approval-settled", { approval_id: "b", title: "ls", decision: "approved", by: "pane" }),
        event(3, 5, "mail-sent", { mail_id: "mail-x" }, "session:abc"),
      ],
      mails: [
        { ...mail, seq: 3, isSent: false, with: "boss", actor: "session:abc" },
        { ...mail, seq: 4, isSent: true, with: "the operator", actor: "session:me" },
      ],
    });
    expect(parts.map(({ actor, what, text }) => [actor, what, text])).toEqual([
      ["rule:no-rm", 'denied by the rule "no-rm": rm', null],
      ["terminal", "approved by somebody in its terminal: ls", null],
      ["session:abc", "got mail from boss: Ready", "All green."],
      ["session:me", "sent mail to the operator: Ready", "All green."],
    ]);
  });
});

describe("model calls", () => {
  test("lines of exchanges that run side by side are put together; cut-off ones are told as such", () => {
    const [one, two] = [exchange("1", 1, 0, 100), exchange("2", 11, 1, 101, { status: 529, response: "overloaded" })];
    const cut = exchange("3", 21, 2, 102).slice(0, 2);
    const mixed = [
      ...one.slice(0, 2),
      ...two,
      ...one.slice(2),
      ...cut,
      line(31, 3, 103, "dropped", { lines: 4, bytes: 99 }),
    ];
    const reader = createApiReader();
    for (const each of readLines(`${asLines(mixed)}{"v":1,"seq":40,"at":"2026-`)) reader.take(each);
    expect(reader.parts().map(({ seq, what, failed, ms }) => ({ seq, what, failed, ms }))).toEqual([
      { seq: 1, what: "POST /v1/messages, 200, model-1, 1.5 s, 1200 tokens in, 30 out", failed: false, ms: 1_500 },
      { seq: 11, what: "POST /v1/messages, 529, model-1, 1.5 s, 1200 tokens in, 30 out", failed: true, ms: 1_500 },
      { seq: 21, what: "POST /v1/messages, its end is not recorded", failed: false, ms: null },
      { seq: 31, what: "4 lines (99 bytes) of model traffic were not recorded", failed: true, ms: null },
    ]);
    expect(reader.parts()[1]?.data).toMatchObject({
      request: "{}",
      response: "overloaded",
      status: 529,
      exchange: "2",
    });
  });

  test("a name that comes again is another exchange; what an agent says in a websocket is the request", () => {
    const reader = createApiReader();
    const common = { exchange: "1", captured: "proxy" };
    const spoken = [
      line(11, 5, 105, "request", { ...common, method: "GET", url: "wss://x/v1/responses", body: null }),
      line(12, 5, 105, "chunk", { ...common, from: "agent", n: 1, body: "hello" }),
      line(13, 5, 105, "chunk", { ...common, from: "model", n: 2, body: "hi" }),
    ];
    for (const each of readLines(asLines([...exchange("1", 1, 0, 100), ...spoken]))) reader.take(each);
    expect(reader.parts().map(({ seq, data }) => [seq, data["request"], data["response"]])).toEqual([
      [1, "{}", "ok"],
      [11, "hello", "hi"],
    ]);
  });

  test("of long bodies only the beginning is kept", () => {
    const reader = createApiReader();
    for (const each of readLines(
      asLines(exchange("1", 1, 0, 1, { request: "q".repeat(1_000_000), response: "a".repeat(1_000_000) })),
    ))
      reader.take(each);
    expect(JSON.stringify(reader.parts()).length).toBeLessThan(20_000);
  });
});

describe("the transcript", () => {
  const said = (
    role: SaidMessage["role"],
    text: string,
    seconds: number | null,
    tool: SaidMessage["tool"] = null,
  ): SaidMessage => ({
    role,
    text,
    tool,
    usage: null,
    at: seconds === null ? null : at(seconds),
  });

  test("a result stands with its call, with how long it took; one without a call stands alone", () => {
    const parts = transcriptParts(
      [
        said("user", "run the tests", 0),
        said("assistant", "I run them.", 1, {
          id: "t1",
          name: "Bash",
          input: '{"command":"npm test"}',
          isError: false,
        }),
        said("tool", "3 failed", 4, { id: "t1", name: "Bash", input: null, isError: true }),
        said("tool", "lost", null, { id: "t9", name: "Read", input: null, isError: false }),
      ],
      at(0),
    );
    expect(parts.map(({ type, what, failed, ms, at: when }) => [type, what, failed, ms, when])).toEqual([
      ["said", "run the tests", false, null, at(0)],
      ["said", "I run them.", false, null, at(1)],
      ["tool-call", "Bash: npm test (failed)", true, 3_000, at(1)],
      ["tool-result", "Read", false, null, at(4)],
    ]);
    expect(parts[2]?.data).toMatchObject({ result: "3 failed" });
  });
});

describe("pages", () => {
  const story = tellStory({
    log: logParts({
      events: [
        event(1, 0, "turn-started", { turn: 1 }),
        event(2, 1, "activity-changed", { activity: { status: "working" } }),
        event(3, 5, "turn-failed", { turn: 1, error: "429" }),
        event(9, 20, "turn-started", { turn: 2 }),
        event(12, 25, "turn-completed", { turn: 2 }),
      ],
    }),
    transcript: transcriptParts([{ role: "assistant", text: "Hm.", tool: null, usage: null, at: at(3) }], at(0)),
    api: [],
  });
  const [first] = story;
  if (first === undefined) throw new Error("there is a story");
  const all = { limit: 100, mostBytes: 1_000_000 };
  const types = (wish: Parameters<typeof pageOf>[1]): readonly string[] =>
    pageOf(story, wish, all).entries.map(({ type }) => type);

  test("filters", () => {
    expect(types({})).toEqual(["turn-started", "said", "turn-failed", "turn-started", "turn-completed"]);
    expect(types({ only: ["activity"] })).toEqual(["activity-changed"]);
    expect(types({ turn: 2 })).toEqual(["turn-started", "turn-completed"]);
    expect(types({ errors: true })).toEqual(["turn-failed"]);
    expect(types({ from: at(5) })).toEqual(["turn-failed", "turn-started", "turn-completed"]);
    expect(types({ last: 2 })).toEqual(["turn-started", "turn-completed"]);
    expect(types({ turn: 1, only: ["said"], last: 5 })).toEqual(["said"]);
  });

  test("page by page comes the same as at once, and what is added later, wherever its place, comes after", () => {
    const read: string[] = [];
    let cursor: string | undefined;
    for (let more = true; more;) {
      const since = cursor === undefined ? null : parseCursor(cursor);
      const page = pageOf(story, {}, { limit: 2, mostBytes: 1_000_000, ...(since === null ? {} : { since }) });
      read.push(...page.entries.map(({ type }) => type));
      cursor = page.cursor;
      more = page.hasMore;
    }
    expect(read).toEqual(types({}));
    expect(cursor).toBe("12.1.0");
    const late = {
      ...first,
      source: "transcript" as const,
      seq: 3,
      kind: "said" as const,
      type: "late",
      at: at(4),
    };
    const since = parseCursor(cursor ?? "") ?? { log: 0, transcript: 0, api: 0 };
    expect(
      pageOf([...story.slice(0, 3), late, ...story.slice(3)], {}, { ...all, since }).entries.map(({ type }) => type),
    ).toEqual(["late"]);
    expect(pageOf(story, {}, { limit: 100, mostBytes: 1 }).entries.length).toBe(1);
    for (const bad of ["", "1", "1.2", "1.2.x", "1.2.3.4", "-1.2.3"]) expect(parseCursor(bad)).toBeNull();
  });

  test("an entry from elsewhere is taken if it is one, without escape sequences and hidden characters", () => {
    expect(parseEntry(JSON.stringify(story[0]))).toEqual(story[0]);
    const evil = parseEntry(
      JSON.stringify({
        ...story[0],
        what: "a\u001b[2Jb\u202e",
        text: "\u001b]0;x\u0007y",
        data: { "k\u001b[1m": ["\u009b2J!"] },
      }),
    );
    expect(evil).toMatchObject({ what: "ab<U+202E>", text: "y", data: { k: ["!"] } });
    for (const bad of [
      "",
      "[]",
      "{}",
      JSON.stringify({ ...story[0], seq: -1 }),
      JSON.stringify({ ...story[0], kind: "x" }),
      JSON.stringify({ ...story[0], at: "x" }),
    ])
      expect(parseEntry(bad)).toBeNull();
  });
});
