import { expect, test } from "vitest";
import { encode, encodeAnswer } from "./typing.ts";

const enter = [
  { type: "pause", ms: 150 },
  { type: "key", key: "Enter" },
];

test("a prompt is pasted, and submitted after a pause", () => {
  expect(encode({ text: "hi\nthere", submit: true })).toEqual([{ type: "paste", text: "hi\nthere" }, ...enter]);
  expect(encode({ text: "draft", submit: false })).toEqual([{ type: "paste", text: "draft" }]);
  expect(encode({ text: "", submit: true })).toEqual([{ type: "key", key: "Enter" }]);
});

test("no message is run by a shell", () => {
  expect(encode({ text: "!rm -rf x", submit: true })[0]).toEqual({ type: "paste", text: " !rm -rf x" });
});

test("a backslash at the end stays one", () => {
  const backslash = String.raw`C:\\`;
  expect(encode({ text: backslash, submit: true })[0]).toEqual({ type: "paste", text: `${backslash} ` });
  expect(encode({ text: backslash, submit: false })).toEqual([{ type: "paste", text: backslash }]);
});

test("denying presses no number: in 2.1.325 the third choice may be yes", () => {
  const approval = { id: "1-a", kind: "command", title: "", subject: null, cwd: null, reason: null } as const;
  expect(encodeAnswer(approval, "approved")).toEqual([{ type: "key", key: "1" }]);
  expect(encodeAnswer(approval, "denied")).toEqual([{ type: "key", key: "Escape" }]);
});
