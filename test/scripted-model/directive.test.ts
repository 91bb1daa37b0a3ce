import { expect, test } from "vitest";
import { DIRECTIVE_HELP, DIRECTIVE_WORDS, parseScript } from "./directive.ts";

test("reads every directive, in order, and leaves the rest of the prompt", () => {
  const prompt =
    "go [[until /a b]][[delay 1.5s]][[delay 300ms]] on [[say a  b]] [[shell echo hi]] [[stream 5 200ms]] [[hang]] [[hang midway]] " +
    "[[status 429]] [[status 500 times 2]] [[retry-after 1]] [[disconnect]] [[disconnect midway]] now";
  expect(parseScript(prompt)).toEqual({
    rest: "go on now",
    directives: [
      { kind: "until", file: "/a b" },
      { kind: "delay", ms: 1500 },
      { kind: "delay", ms: 300 },
      { kind: "say", text: "a  b" },
      { kind: "shell", command: "echo hi" },
      { kind: "stream", pieces: 5, pauseMs: 200 },
      { kind: "hang", midway: false },
      { kind: "hang", midway: true },
      { kind: "status", status: 429, times: Infinity },
      { kind: "status", status: 500, times: 2 },
      { kind: "retry-after", seconds: 1 },
      { kind: "disconnect", midway: false },
      { kind: "disconnect", midway: true },
    ],
  });
});

test("a tool is named with its input as JSON", () => {
  const command = 'Write {"file_path":"a b","content":"[1]"}';
  expect(parseScript(`[[tool ${command}]]`).directives).toEqual([{ kind: "tool", command }]);
  expect(parseScript("[[tool Write a b]]").directives).toEqual([
    { kind: "say", text: "Bad directive: tool Write a b" },
  ]);
});

test("a shell command may hold brackets and lines of its own", () => {
  const command = 'if [[ -f "a b" ]]; then\n  echo yes\nfi';
  expect(parseScript(`[[shell ${command}]]`)).toEqual({ rest: "", directives: [{ kind: "shell", command }] });
});

test("unknown words and open brackets stay text", () => {
  const prompt = "see [[constructor]] [[Wiki page]] and [[say never closed";
  expect(parseScript(prompt)).toEqual({ rest: prompt, directives: [] });
});

test("a known word with wrong arguments is said aloud", () => {
  const say = (text: string) => ({ kind: "say", text: `Bad directive: ${text}` });
  expect(parseScript("[[delay soon]][[until later]][[status 200]][[stream 5]][[hang on]][[shell]]").directives).toEqual(
    [say("delay soon"), say("until later"), say("status 200"), say("stream 5"), say("hang on"), say("shell")],
  );
});

test("big text has the asked length, is always the same and does not repeat itself", () => {
  const big = () =>
    parseScript("[[big 20000]]").directives.map((directive) => (directive.kind === "say" ? directive.text : ""));
  const [text = ""] = big();
  expect(text.length).toBe(20_000);
  expect(big()).toEqual([text]);
  const chunks = Array.from({ length: text.length - 50 }, (_, at) => text.slice(at, at + 50));
  expect(new Set(chunks).size).toBe(chunks.length);
});

test("--help tells of each directive, and each of its examples is read", () => {
  const told = DIRECTIVE_HELP.map(([form]) => form.split(" ", 1).join(""));
  expect(told.toSorted()).toEqual([...DIRECTIVE_WORDS()].toSorted());
  for (const [form] of DIRECTIVE_HELP) {
    const { directives } = parseScript(`[[${form.replace("{...}", "{}")}]]`);
    expect([form, directives.length, JSON.stringify(directives).includes("Bad directive")]).toEqual([form, 1, false]);
  }
});
