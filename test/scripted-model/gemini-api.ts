// The Gemini API: Gemini CLI.

import type { Answer, Asked, Usage } from "./conversation.ts";
import type { Dialect, Speech } from "./dialect.ts";
import { refuseGeneration } from "./gemini-refusal.ts";
import { readGeminiRequest } from "./gemini-request.ts";
import type { JsonObject } from "./json.ts";

export const geminiApi: Dialect = {
  api: "gemini",
  read: readGeminiRequest,
  refuse: refuseGeneration,
  used: () => ({}),
  speak,
  whole: (answer, asked) => {
    const text = answer.text === "" ? [] : [{ text: answer.text }];
    return chunk(asked, [...text, ...callParts(answer)], answer.usage);
  },
  error: (status, message) => ({ error: { code: status, message, status: errorStatus(status) } }),
};

function speak(answer: Answer, asked: Asked): Speech {
  return {
    open: () => "",
    text: (piece) => line(chunk(asked, [{ text: piece }])),
    close: () => line(chunk(asked, callParts(answer), answer.usage)),
  };
}

function line(data: unknown): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}

function callParts(answer: Answer): readonly JsonObject[] {
  return answer.calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }));
}

function chunk(asked: Asked, parts: readonly JsonObject[], usage?: Usage): JsonObject {
  const content = { role: "model", parts: parts.length === 0 ? [{ text: "" }] : parts };
  const candidate = { index: 0, content, ...(usage === undefined ? {} : { finishReason: "STOP" }) };
  return {
    candidates: [candidate],
    modelVersion: asked.model,
    ...(usage === undefined ? {} : { usageMetadata: usageOf(usage) }),
  };
}

function usageOf(usage: Usage): JsonObject {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  };
}

function errorStatus(status: number): string {
  const names: Readonly<Record<number, string>> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
  };
  return names[status] ?? (status < 500 ? "FAILED_PRECONDITION" : "INTERNAL");
}
