import { describe, expect, it } from "vitest";
import type { OutputOf } from "../../client/operation-types.ts";
import { explanationText } from "./explain-text.ts";
import { sessionView } from "./session-fixture.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const at = "2026-11-15T11:57:00.000Z";

function explanation(fields: Partial<OutputOf<"explainSession">> = {}): OutputOf<"explainSession"> {
  return {
    session: sessionView(),
    mode: { name: "hooks", text: "Its hooks tell of turns.", version: "1.2.3" },
    paused: null,
    channel: null,
    liveness: {
      claim: "running",
      because: "Only the runtime is asked about this.",
      evidence: { source: "runtime", detail: "pane %1 runs process 7", at },
    },
    observability: { claim: "pending", because: "It has not written yet.", evidence: null },
    activity: {
      claim: "idle",
      because: "The newest word counts.",
      evidence: { source: "hook", detail: "Stop hook", at },
    },
    health: {
      claim: "healthy",
      because: "Nothing speaks against it.",
      evidence: { source: "hook", detail: "Stop hook", at },
    },
    signs: [],
    unkept: [],
    timeouts: [],
    turn: null,
    messages: [],
    wakes: {
      notifications: { armed: [], to: null, by: "none", why: "No session started it." },
      acknowledged: 0,
      waiting: 0,
      message_id: null,
    },
    sources: [],
    disputes: [],
    ...fields,
  };
}

describe("explanationText", () => {
  it("says of a paused session that it is, why, and how it goes on", async () => {
    const reason = "Paused on request: input is held back, the process runs on.";
    const paused = "It is paused, and what is sent to it is held back; let it go on with: reeve resume builder.";
    const fields = { paused, session: sessionView({ state: "paused", reason }) };
    expect(await explanationText(explanation(fields), { width: 200, hasColour: false }, now)).toContain(
      `Paused\n  ${reason}\n  ${paused}\n`,
    );
  });

  it("gives each claim with its reason and its evidence", async () => {
    expect(await explanationText(explanation(), { width: 60, hasColour: false }, now)).toBe(
      `builder (abcdefghjk)
  practice 1.2.3, watched by hooks. Its hooks tell of turns.
  Started by the operator.

Process: running
  Only the runtime is asked about this.
  runtime: pane %1 runs process 7 (3 min ago)

Transcript: pending
  It has not written yet.

Activity: idle
  The newest word counts.
  hook: Stop hook (3 min ago)

Health: healthy
  Nothing speaks against it.
  hook: Stop hook (3 min ago)

Sources
  No source has reported anything since the daemon started.
`,
    );
  });

  it("says who asked for its start, its last change and its messages", async () => {
    const session = sessionView({
      started_by: "session:boss",
      last_command: { command: "pause", by: "operator", at },
    });
    const messages = [
      { message_id: "m1", state: "admitted", detail: null, sent_by: "session:boss" },
      { message_id: "m2", state: "leased", detail: null, sent_by: null },
    ];
    const text = await explanationText(explanation({ session, messages }), { width: 80, hasColour: false }, now);
    expect(text).toContain("  Started by session boss.\n  Last asked for: pause, by the operator (3 min ago).\n\n");
    expect(text).toContain("Messages\n  m1, sent by session boss, is recorded.\n  m2 is being typed.\n");
  });

  it("then who said what, and who disagreed", async () => {
    const text = await explanationText(
      explanation({
        channel: "open",
        turn: { claim: "turn 3: completed", because: "The first to tell of its end: hook.", evidence: null },
        sources: [
          { source: "hook", said: "idle", detail: "Stop hook", at, weight: "counted" },
          { source: "screen", said: null, detail: "rule spinner", at, weight: "not counted yet: it may pass" },
        ],
        disputes: [{ turn: 3, counted: "completed (hook)", other: "failed (transcript)", detail: "an error line" }],
      }),
      { width: 70, hasColour: false },
      now,
    );
    expect(text).toContain("\n  Its own protocol: open\n");
    expect(text.slice(text.indexOf("Turn 3"))).toBe(
      `Turn 3: completed
  The first to tell of its end: hook.

SOURCE  SAID  DETAIL        AGE        WEIGHT
hook    idle  Stop hook     3 min ago  counted
screen  -     rule spinner  3 min ago  not counted yet: it may pass

Disputes
  Two sources reported the end of a turn differently.
TURN  COUNTED           AGAINST              DETAIL
3     completed (hook)  failed (transcript)  an error line
`,
    );
  });

  it("keeps why a word did not count, however narrow the terminal", async () => {
    const weight = "ignored: the hook says that it is working, and counts more than this";
    const sources = [{ source: "screen", said: "idle", detail: "rule idle", at, weight }];
    const text = await explanationText(explanation({ sources }), { width: 60, hasColour: false }, now);
    expect(text.slice(text.indexOf("SOURCE"))).toBe(
      `SOURCE  SAID  DETAIL     AGE        WEIGHT
screen  idle  rule idle  3 min ago  ignored: the hook says …
    ignored: the hook says that it is working, and counts
    more than this
`,
    );
  });

  it("fits the terminal and lets no escape sequence through", async () => {
    const evil = `\u001B[31mred\u0007 ${"word ".repeat(40)}`;
    const text = await explanationText(
      explanation({
        observability: { claim: "pending", because: evil, evidence: null },
        sources: [{ source: "screen", said: evil, detail: evil, at, weight: evil }],
        disputes: [{ turn: 1, counted: evil, other: evil, detail: evil }],
      }),
      { width: 50, hasColour: false },
      now,
    );
    expect(text).not.toMatch(/[\u001B\u0007]/);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(50);
  });
});
