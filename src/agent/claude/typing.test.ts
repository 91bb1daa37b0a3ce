import { expect, test } from "vitest";
import { knownWith } from "./known-fixture.ts";
import { encode, encodeAnswer } from "./typing.ts";

const enter = [
  { type: "pause", ms: 150 },
  { type: "key", key: "Enter" },
];

test("a prompt is pasted, and submitted after a pause", () => {
  expect(encode({ text: "hi\nthere", submit: true }, knownWith({}))).toEqual([
    { type: "paste", text: "hi\nthere" },
    ...enter,
  ]);
  expect(encode({ text: "draft", submit: false }, knownWith({}))).toEqual([{ type: "paste", text: "draft" }]);
  expect(encode({ text: "", submit: true }, knownWith({ lastVerdict: "interrupted" }))).toEqual([
    { type: "key", key: "Enter" },
  ]);
});

test("what an interruption put back into the composer is cleared first", () => {
  expect(encode({ text: "next", submit: true }, knownWith({ lastVerdict: "interrupted" }))).toEqual([
    { type: "key", key: "C-c" },
    { type: "pause", ms: 150 },
    { type: "paste", text: "next" },
    ...enter,
  ]);
});

test("no message is run by a shell", () => {
  expect(encode({ text: "!rm -rf x", submit: true }, knownWith({}))[0]).toEqual({ type: "paste", text: " !rm -rf x" });
});

test("a backslash at the end stays one", () => {
  const backslash = String.raw`C:\\`;
  expect(encode({ text: backslash, submit: true }, knownWith({}))[0]).toEqual({ type: "paste", text: `${backslash} ` });
  expect(encode({ text: backslash, submit: false }, knownWith({}))).toEqual([{ type: "paste", text: backslash }]);
});

test("denying presses no number: in 2.1.325 the third choice may be yes", () => {
  const approval = { id: "1-a", kind: "command", title: "", subject: null, cwd: null, reason: null } as const;
  expect(encodeAnswer(approval, "approved")).toEqual([{ type: "key", key: "1" }]);
  expect(encodeAnswer(approval, "denied")).toEqual([{ type: "key", key: "Escape" }]);
});
