import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Launch } from "../../session/session.ts";
import { makeContext, makeKnown, makeLaunch } from "../agent-fixture.ts";
import type { LaunchContext } from "../contract.ts";
import { commandAgent } from "./command-agent.ts";

const known = makeKnown();

function contextOf(launch: Partial<Launch>): LaunchContext {
  return makeContext({ launch: makeLaunch({ args: ["npm", "run", "dev"], ...launch }) });
}

function refusalOf(launch: Partial<Launch>): { code: string; kind: string; message: string } {
  try {
    commandAgent.plan(contextOf(launch));
  } catch (error) {
    if (error instanceof ReeveError) return { code: error.code, kind: error.kind, message: error.message };
  }
  throw new Error("the launch was not refused");
}

test("the arguments are the program", () => {
  expect(commandAgent.plan(contextOf({}))).toEqual({
    argv: ["npm", "run", "dev"],
    environment: {},
    files: [],
    nativeId: null,
    transcriptPath: null,
    observabilityReason: "A plain command writes no transcript; its screen is shown instead.",
    isPromptLeftOut: false,
    mode: { name: "process", text: "Only its process and its screen can be seen." },
    channel: null,
    statusDir: null,
  });
});

test("a launch that makes no sense is refused with what to do instead", () => {
  const missing = {
    code: "command-missing",
    kind: "usage",
    message: "Say what to run after --, for example: reeve start command -- npm run dev.",
  };
  expect(refusalOf({ args: [] })).toEqual(missing);
  expect(refusalOf({ args: [""] })).toEqual(missing);
  expect(refusalOf({ prompt: "hello" })).toEqual({
    code: "prompt-unsupported",
    kind: "usage",
    message: "A command takes no prompt: put the program after -- and type into it later with reeve send.",
  });
  expect(refusalOf({ model: "large" })).toEqual({
    code: "model-unsupported",
    kind: "usage",
    message: "A command has no model to choose: leave --model out.",
  });
});

test("text is pasted, and submitted only when asked", () => {
  expect(commandAgent.encode({ text: "a\nb", submit: true })).toEqual([
    { type: "paste", text: "a\nb" },
    { type: "key", key: "Enter" },
  ]);
  expect(commandAgent.encode({ text: "a", submit: false })).toEqual([{ type: "paste", text: "a" }]);
  expect(commandAgent.encode({ text: "", submit: true })).toEqual([{ type: "key", key: "Enter" }]);
});

test("there is nothing to read, whatever is shown", () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (record, line) => {
      expect(commandAgent.readHook(record, known)).toBeNull();
      expect(commandAgent.readLine(line, known)).toBeNull();
      expect(commandAgent.readMessages([line])).toEqual([]);
      expect(commandAgent.readStatus({ name: line, content: line }, known)).toBeNull();
      expect(commandAgent.readOpenFiles([line], known)).toBeNull();
      expect(commandAgent.searchTranscript(known)).toBeNull();
    }),
  );
});

test("it takes input in every activity", () => {
  const activities = ["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"] as const;
  expect(activities.every((activity) => commandAgent.accepts(activity))).toBe(true);
});

test("nothing is asked, so nothing can be answered or interrupted", () => {
  const approval = { id: "a", kind: "other", title: "?", subject: null, cwd: null, reason: null } as const;
  expect([commandAgent.encodeAnswer(approval, "approved"), commandAgent.interrupt]).toEqual([null, null]);
});
