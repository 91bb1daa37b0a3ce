import { describe, expect, it } from "vitest";
import { toolGist } from "../../session/tool-gist.ts";
import type { MessageView } from "./transcript-text.ts";
import { transcriptText } from "./transcript-text.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const plain = { width: 40, hasColour: false };

function message(role: MessageView["role"], text: string, tool: MessageView["tool"] = null): MessageView {
  return { role, text, tool, usage: null, at: "2026-11-15T11:57:00.000Z", turn: null };
}

function call(name: string, input: string, id = "1"): MessageView {
  return message("assistant", "", { id, name, input, is_error: false });
}

function result(text: string, fields: Partial<NonNullable<MessageView["tool"]>> = {}): MessageView {
  return message("tool", text, { id: "1", name: "Bash", input: null, is_error: false, ...fields });
}

describe("transcriptText", () => {
  it("shows what was said in full and what tools did in short", async () => {
    const messages = [
      message("user", "Does it pass?"),
      message("assistant", "I run the tests."),
      call("Bash", '{"command":"npm test","description":"Run the tests"}'),
      result("one\n\ntwo\tcolumns\nthree\nfour\nfive\n"),
      call("Read", '{"file_path":"/a.ts"}'),
      result("", {}),
      message("assistant", "It does.\n"),
    ];
    expect(await transcriptText(messages, plain, now)).toBe(`[user, 3 min ago]
Does it pass?

[assistant, 3 min ago]
I run the tests.

→ Bash: npm test
← one
  two  columns
  three
  (2 more lines)
→ Read: /a.ts
← (nothing)

[assistant, 3 min ago]
It does.
`);
  });

  it("names the tool of a result that does not stand below its call, and says what failed", async () => {
    const messages = [
      call("Bash", '{"command":"a"}', "1"),
      call("Read", '{"file_path":"b"}', "2"),
      result("out", { id: "1" }),
      result("no such file", { id: "2", name: "Read", is_error: true }),
      call("Bash", '{"command":"c"}', "3"),
      result("exit 1", { id: "3", is_error: true }),
    ];
    expect((await transcriptText(messages, plain, now)).split("\n")).toEqual([
      "→ Bash: a",
      "→ Read: b",
      "← Bash: out",
      "← Read failed: no such file",
      "→ Bash: c",
      "← failed: exit 1",
      "",
    ]);
  });

  it("keeps a message of role tool that has no call, and the text of one that has", async () => {
    const both = message("assistant", "Now.", { id: "1", name: "Bash", input: "ls", is_error: false });
    expect(await transcriptText([message("tool", "$ ls"), both], plain, now)).toBe(
      "[tool, 3 min ago]\n$ ls\n\n[assistant, 3 min ago]\nNow.\n\n→ Bash: ls\n",
    );
  });

  it("cuts tool lines to the terminal and lets no escape sequence through", async () => {
    const evil = `\u001B[31m${"日本 ".repeat(40)}\u0007`;
    const text = await transcriptText(
      [call(evil, evil), result(`${evil}\n${evil}`, { is_error: true }), message("user", evil)],
      { width: 30, hasColour: false },
      now,
    );
    expect(text).not.toMatch(/[\u001B\u0007]/);
    const [first = "", second = ""] = text.split("\n");
    expect(first).toMatch(/^→ 日本.*…$/);
    expect(second).toMatch(/^← failed: 日本.*…$/);
  });
});

describe("toolGist", () => {
  it.each([
    ['{"command":"npm test","timeout":5}', "npm test"],
    ['{"command":["bash","-lc","npm test"],"workdir":"/x"}', "npm test"],
    ['{"command":["git","status"],"workdir":"/x"}', "git status"],
    ['{"old_string":"a","new_string":"b","file_path":"/a.ts"}', "/a.ts"],
    ['{"plan":"one thing"}', "one thing"],
    ['{"a":1,"b":2}', '{"a":1,"b":2}'],
    ["{}", ""],
    ["*** Begin Patch", "*** Begin Patch"],
    ["[1]", "[1]"],
  ])("of %s is %s", (input, gist) => {
    expect(toolGist(input)).toBe(gist);
  });
});
