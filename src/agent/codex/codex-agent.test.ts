import { expect, test } from "vitest";
import { makeContext, makeLaunch } from "../agent-fixture.ts";
import { codexAgent } from "./codex-agent.ts";

const agent = codexAgent({ bootstrapPath: "/b.js", nodePath: "/node" });
const pasted = (text: string): unknown => agent.encode({ text, submit: true })[0];

test("a prompt is pasted, and submitted after a pause", () => {
  expect(agent.encode({ text: "a\nb", submit: true })).toEqual([
    { type: "paste", text: "a\nb" },
    { type: "pause", ms: 200 },
    { type: "key", key: "Enter" },
  ]);
});

test.each(["!rm -rf x", " !rm -rf x", "\n!rm -rf x"])("no message is run by a shell: %j", (text) => {
  expect(pasted(text)).toEqual({ type: "paste", text: `\u200b${text}` });
});

test.each(["!rm -rf x", " !rm -rf x"])("nor is a first prompt, which comes as a message then: %j", (prompt) => {
  const program = { path: "/bin/codex", version: "0.166.0" };
  const plan = agent.plan(makeContext({ launch: makeLaunch({ prompt, paths: { HOME: "/home/user" } }), program }));
  expect(plan.isPromptLeftOut).toBe(true);
  expect(JSON.stringify([plan.argv, plan.files])).not.toContain("rm -rf");
});

test.each(["look at @wid", "@wid", "use $skill"])("Enter chooses nothing from a list: %j", (text) => {
  expect(pasted(text)).toEqual({ type: "paste", text: `${text} ` });
});
