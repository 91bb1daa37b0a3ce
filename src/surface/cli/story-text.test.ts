import { expect, test } from "vitest";
import { logLine, logParts } from "../../session/story/log-part.ts";
import { createApiReader } from "../../session/story/api-part.ts";
import { asLines, at, event, exchange } from "../../session/story/story-fixture.ts";
import { tellStory } from "../../session/story/tell-story.ts";
import { transcriptParts } from "../../session/story/transcript-part.ts";
import { storyText } from "./story-text.ts";

function story() {
  const api = createApiReader();
  for (const line of asLines(exchange("1", 1, 11, 111)).split("\n")) {
    const fields = logLine(line);
    if (fields !== null) api.take(fields);
  }
  const said = { tool: null, usage: null };
  const bash = { id: "t", name: "Bash", input: '{"command":"npm test"}', isError: false };
  return tellStory({
    log: logParts({
      events: [
        event(1, 0, "session-planned", { agent: "codex", role: "builder" }, "operator"),
        event(2, 10, "turn-started", { turn: 1 }),
        event(3, 14, "approval-requested", { approval: { id: "a", title: "rm -rf build" } }),
        event(4, 16, "approval-settled", {
          approval_id: "a",
          title: "rm -rf build",
          decision: "denied",
          by: "operator",
        }),
        event(5, 20, "turn-failed", { turn: 1, error: "429 too many requests" }),
      ],
    }),
    transcript: transcriptParts(
      [
        { ...said, role: "user", text: "Run the tests\nand fix them", at: at(9) },
        { role: "assistant", text: "", tool: bash, usage: null, at: at(12) },
        { role: "tool", text: "3 failed", tool: { ...bash, input: null, isError: true }, usage: null, at: at(13) },
        { ...said, role: "assistant", text: "Evil \u001b[2J\u202e text", at: at(15) },
      ],
      at(0),
    ),
    api: api.parts(),
  }).map((entry) => ({ ...entry, data: { ...entry.data } }));
}

const now = new Date(at(60));

test("golden: a story on a terminal", async () => {
  const text = await storyText(story(), { hasColour: false, now, width: null });
  // Whatever the time zone of the machine is.
  expect(text.replaceAll(/^\d\d:\d\d/gm, "hh:mm")).toBe(`hh:mm:00  operator          asked for: codex, role builder
hh:mm:09  user                "Run the tests and fix them"
hh:mm:10  agent             turn 1 began
hh:mm:11  agent               POST /v1/messages, 200, model-1, 1.5 s, 1200 tokens in, 30 out
hh:mm:12  agent               Bash: npm test (failed) (1.0 s)
hh:mm:14  agent               asks: rm -rf build
hh:mm:15  agent               "Evil <U+202E> text"
hh:mm:16  operator            denied by the operator: rm -rf build (2.0 s)
hh:mm:20  agent             turn 1 failed: 429 too many requests after 10.0 s
`);
});

test("long entries are broken between words, below where they began, and failures are coloured", async () => {
  const text = await storyText(story().slice(3, 5), { hasColour: true, now, width: 70 });
  expect(text.replaceAll(/\d\d:\d\d:/g, "hh:mm:")).toBe(
    [
      "\u001b[2mhh:mm:11\u001b[0m  \u001b[1magent           \u001b[0m    \u001b[2mPOST /v1/messages, 200, model-1, 1.5 s,\u001b[0m",
      `${" ".repeat(30)}\u001b[2m1200 tokens in, 30 out\u001b[0m`,
      "\u001b[2mhh:mm:12\u001b[0m  \u001b[1magent           \u001b[0m    \u001b[31mBash: npm test (failed) (1.0 s)\u001b[0m\n",
    ].join("\n"),
  );
});
