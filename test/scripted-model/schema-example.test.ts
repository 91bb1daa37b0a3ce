import { expect, test } from "vitest";
import { exampleOf } from "./schema-example.ts";

test("gemini 0.61.0: routing, next speaker and loop detection get harmless answers", () => {
  const schema = {
    type: "OBJECT",
    properties: {
      complexity_reasoning: { type: "STRING" },
      complexity_score: { type: "INTEGER" },
      next_speaker: { type: "STRING", enum: ["model", "user"] },
      unproductive_state_confidence: { type: "NUMBER" },
    },
  };
  expect(exampleOf(schema)).toEqual({
    complexity_reasoning: "Scripted session",
    complexity_score: 1,
    next_speaker: "user",
    unproductive_state_confidence: 0,
  });
});

test("standard JSON schema", () => {
  const schema = {
    type: "object",
    properties: {
      list: { type: "array", items: { type: "string" } },
      flag: { type: ["boolean", "null"] },
      kind: { const: "k" },
      either: { anyOf: [{ type: "integer", minimum: 7 }, { type: "null" }] },
      nothing: { type: "null" },
    },
  };
  expect(exampleOf(schema)).toEqual({ list: [], flag: false, kind: "k", either: 7, nothing: null });
});
