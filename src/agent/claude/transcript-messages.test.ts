import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recorded } from "./recorded-fixture.ts";
import { readMessages } from "./transcript-messages.ts";

test("a real run, for people", () => {
  const said = readMessages(recorded("transcript.jsonl"));
  expect(said.map(({ role, text, tool, turn }) => [turn?.slice(0, 4), role, tool?.name, text.slice(0, 40)])).toEqual([
    ["9575", "user", undefined, "Say hello. ~reply Hello."],
    ["9575", "assistant", undefined, "Hello."],
    ["518b", "user", undefined, "Count. ~slow 9"],
    ["518b", "assistant", undefined, "word0 word1 word2 "],
    ["518b", "system", undefined, "The turn was interrupted."],
    ["5a49", "user", undefined, "Touch a. ~bash touch a"],
    ["5a49", "assistant", undefined, "I will run it."],
    ["5a49", "assistant", "Bash", ""],
    ["5a49", "tool", "Bash", "(Bash completed with no output)"],
    ["5a49", "assistant", undefined, "Done after the tool."],
    ["82a9", "user", undefined, "Touch b. ~bash touch b"],
    ["82a9", "assistant", undefined, "I will run it."],
    ["82a9", "assistant", "Bash", ""],
    ["82a9", "tool", "Bash", "The user doesn't want to proceed with th"],
    ["82a9", "system", undefined, "The turn was interrupted."],
    ["3ac8", "user", undefined, "Fail. ~err 400"],
    ["3ac8", "system", undefined, "API Error: 400 scripted 400"],
    ["e0e0", "user", undefined, "Count again. ~slow 4"],
    ["e0e0", "assistant", undefined, "word0 word1 word2 "],
    ["7ecf", "user", undefined, "And then this. ~reply Second."],
    ["7ecf", "assistant", undefined, "Second."],
    ["0d77", "user", undefined, 'Ask. ~tool AskUserQuestion {"questions":'],
    ["0d77", "assistant", "AskUserQuestion", ""],
    ["0d77", "tool", "AskUserQuestion", 'Your questions have been answered: "Whic'],
    ["0d77", "assistant", undefined, "Done after the tool."],
    ["9c53", "user", undefined, 'Delegate. ~tool Agent {"description":"To'],
    ["9c53", "assistant", "Agent", ""],
    ["9c53", "tool", "Agent", "Async agent launched."],
    ["9c53", "assistant", undefined, "Done after the tool."],
    ["2f90", "system", undefined, "<task-notification>\n<task-id>aaf6da0b205"],
    ["2f90", "assistant", undefined, "Hello from the scripted model."],
  ]);
});

test("the text of a slash command, of a shell command and of a prompt taken into a turn", () => {
  const user = (content: string): string => JSON.stringify({ type: "user", message: { role: "user", content } });
  const queued = { type: "queued_command", prompt: "steered words", humanTurn: true };
  const said = readMessages([
    user(
      "<command-name>/model</command-name>\n  <command-message>model</command-message>\n  <command-args>opus</command-args>",
    ),
    user("<local-command-stdout>Kept model</local-command-stdout>"),
    user("<bash-input>ls</bash-input>"),
    user("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"),
    JSON.stringify({ type: "attachment", attachment: queued }),
  ]);
  expect(said.map(({ role, text }) => [role, text])).toEqual([
    ["user", "/model opus"],
    ["system", "Kept model"],
    ["user", "! ls"],
    ["system", "a"],
    ["user", "steered words"],
  ]);
});

test("the first call may be missing, and no line makes it throw", () => {
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "gone", is_error: true };
  const line = JSON.stringify({ type: "user", promptId: "p", timestamp: "t", message: { content: [result] } });
  expect(readMessages([line])).toEqual([
    {
      role: "tool",
      text: "gone",
      tool: { id: "toolu_1", name: "unknown", input: null, isError: true },
      usage: null,
      at: "t",
      turn: "p",
    },
  ]);
  const message = fc.jsonValue().map((content) => JSON.stringify({ type: "assistant", message: { content } }));
  fc.assert(fc.property(fc.array(fc.oneof(fc.string(), fc.json(), message)), (lines) => void readMessages(lines)));
});
