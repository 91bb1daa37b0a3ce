import { expect, test } from "vitest";
import type { Asked } from "./conversation.ts";
import { createRecords } from "./record.ts";

const where = { api: "messages", path: "/v1/messages", prefix: "" } as const;
const asked = (prompt: string): Asked => ({
  model: "m",
  stream: true,
  hidden: false,
  session: "",
  prompt,
  messages: [],
  typed: [],
  offered: [],
  results: [],
  running: undefined,
  shell: undefined,
  background: {},
  schema: undefined,
});

test("keeps the newest thousand, and an end that comes late does no harm", () => {
  const records = createRecords();
  const entries = Array.from({ length: 1005 }, (_, index) => records.begin(where, asked(String(index))));
  entries[0]?.end("answered");
  expect(records.list().map((record) => record.prompt)).toEqual(
    Array.from({ length: 1000 }, (_, index) => String(index + 5)),
  );
});

test("the first outcome counts, and a connection that goes is an abort only without one", () => {
  const records = createRecords();
  const answered = records.begin(where, asked("answered"));
  answered.end("answered");
  answered.end("failed");
  answered.close();
  records.begin(where, asked("left")).close();
  records.begin(where, asked("under way"));
  expect(records.list().map((record) => record.outcome)).toEqual(["answered", "aborted", undefined]);
});

test("a wait ends with the change that it waits for", async () => {
  const records = createRecords();
  const entry = records.begin(where, asked("p"));
  const found = records.waitFor((record) => record.outcome === "failed", 1000);
  entry.end("failed");
  expect((await found).prompt).toBe("p");
});
