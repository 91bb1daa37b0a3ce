import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Launch } from "../../session/session.ts";
import type { LaunchContext } from "../contract.ts";
import { commandAgent } from "./command-agent.ts";

const plain: Launch = {
  args: ["npm", "run", "dev"],
  prompt: null,
  model: null,
  cwd: "/w",
  envFile: null,
  envNames: [],
};

function contextOf(launch: Partial<Launch>): LaunchContext {
  return {
    sessionId: "s-1",
    launch: { ...plain, ...launch },
    resume: null,
    sessionDir: "/home/s-1",
    spoolDir: "/home/s-1/spool",
  };
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
    nativeId: null,
    transcript: null,
    observabilityReason: "A plain command writes no transcript; its screen is shown instead.",
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
      expect(commandAgent.readHook(record)).toBeNull();
      expect(commandAgent.readTranscriptLine(line)).toBeNull();
    }),
  );
});

test("it takes input in every activity", () => {
  const activities = ["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"] as const;
  expect(activities.every((activity) => commandAgent.accepts(activity))).toBe(true);
});
