import { describe, expect, test } from "vitest";
import type { StoryEntry } from "./entry.ts";
import { type Span, tracesOf } from "./spans.ts";
import { part } from "./story-fixture.ts";

const SUBJECT = {
  sessionId: "s-1",
  name: "builder",
  agent: "practice",
  role: "worker",
  nativeId: "native-1",
} as const;

function entry(source: StoryEntry["source"], seq: number, seconds: number, changes: Partial<StoryEntry>): StoryEntry {
  const { mono: _, ...made } = part(source, seq, seconds, null, changes);
  return made;
}

const STORY = [
  entry("log", 1, 0, { type: "session-planned" }),
  entry("log", 2, 1, { type: "turn-started", kind: "turns", turn: 1 }),
  entry("transcript", 1, 1, { type: "said", kind: "said", turn: 1, what: "the plan", text: "the whole plan" }),
  entry("api", 1, 2, {
    type: "model-call",
    kind: "api",
    turn: 1,
    ms: 1_500,
    data: {
      model: "model-1",
      method: "POST",
      url: "https://api.example.org/v1/messages?x=1",
      status: 200,
      usage: { input_tokens: 12, output_tokens: 3, cached_tokens: null },
      request: "asked",
      response: "answered",
    },
  }),
  entry("transcript", 2, 4, {
    type: "tool-call",
    kind: "tools",
    turn: 1,
    ms: 250,
    failed: true,
    what: "shell: rm x (failed)",
    data: { id: "call-1", name: "shell", input: "rm x", result: "no such file" },
  }),
  entry("log", 3, 6, { type: "turn-failed", kind: "turns", turn: 1, what: "turn 1 failed: overloaded", failed: true }),
  entry("log", 4, 7, { type: "session-stopped" }),
];

const spansOf = (story: readonly StoryEntry[], hasContent = false): readonly Span[] =>
  tracesOf(story, SUBJECT, { version: "1.2.3", hasContent }).resourceSpans[0]?.scopeSpans[0]?.spans ?? [];

function attributesOf({ attributes }: Pick<Span, "attributes">): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

describe("a story as spans", () => {
  test("session, turn, model call and tool call, each in the one around it", () => {
    const [root, turn, call, tool, ...rest] = spansOf(STORY);
    expect(rest).toEqual([]);
    expect([root, turn, call, tool].map((span) => span?.name)).toEqual([
      "invoke_agent practice",
      "turn 1",
      "chat model-1",
      "execute_tool shell",
    ]);
    expect(root?.parentSpanId).toBeUndefined();
    expect(turn?.parentSpanId).toBe(root?.spanId);
    expect([call?.parentSpanId, tool?.parentSpanId]).toEqual([turn?.spanId, turn?.spanId]);
    expect(new Set([root, turn, call, tool].map((span) => span?.traceId)).size).toBe(1);
    for (const span of spansOf(STORY)) {
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
    }
  });

  test("times, tokens, and what failed", () => {
    const [root, turn, call, tool] = spansOf(STORY);
    const noon = BigInt(Date.parse("2026-11-17T12:00:00.000Z")) * 1_000_000n;
    expect([root?.startTimeUnixNano, root?.endTimeUnixNano]).toEqual([`${noon}`, `${noon + 7_000_000_000n}`]);
    expect([call?.startTimeUnixNano, call?.endTimeUnixNano]).toEqual([
      `${noon + 2_000_000_000n}`,
      `${noon + 3_500_000_000n}`,
    ]);
    expect(attributesOf(call ?? { attributes: [] })).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "model-1",
      "gen_ai.usage.input_tokens": "12",
      "gen_ai.usage.output_tokens": "3",
      "http.request.method": "POST",
      "http.response.status_code": "200",
      "server.address": "api.example.org",
      "gen_ai.conversation.id": "native-1",
      "reeve.session.id": "s-1",
    });
    expect([root, turn, call, tool].map((span) => span?.status.code)).toEqual([0, 2, 0, 2]);
    expect(root?.events.map(({ name }) => name)).toEqual(["session-planned", "session-stopped"]);
    expect(turn?.events.map(({ name }) => name)).toEqual(["turn-started", "said", "turn-failed"]);
  });

  test("without content nothing of what was said, asked or answered is in them; with it, it is", () => {
    const content = ["the whole plan", "asked", "answered", "rm x", "no such file", "overloaded"];
    const without = JSON.stringify(spansOf(STORY));
    for (const text of content) expect(without).not.toContain(text);
    const withIt = JSON.stringify(spansOf(STORY, true));
    for (const text of content) expect(withIt).toContain(text);
  });

  test("the same story has the same ids, and another session has others", () => {
    expect(spansOf(STORY)).toEqual(spansOf(STORY));
    const others = tracesOf(STORY, { ...SUBJECT, sessionId: "s-2" }, { version: "1.2.3", hasContent: false });
    const ids = new Set(spansOf(STORY).map(({ spanId }) => spanId));
    expect(others.resourceSpans[0]?.scopeSpans[0]?.spans.some(({ spanId }) => ids.has(spanId))).toBe(false);
  });

  test("no story is no span, and a time that is none breaks nothing", () => {
    expect(spansOf([])).toEqual([]);
    const [root] = spansOf([entry("log", 1, 0, { at: "yesterday" })]);
    expect(root).toMatchObject({ startTimeUnixNano: "0", endTimeUnixNano: "0" });
  });
});
