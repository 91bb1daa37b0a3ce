import { describe, expect, it } from "vitest";
import { whyNotYet } from "./command/end.ts";
import { sessionView } from "./session-fixture.ts";
import { infoOf, sessionTable, stateSentence } from "./session-text.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const dead = {
  exit: { code: 70, signal: null, at: "" },
  liveness: "exited",
  state: "error",
  reason: "Its process exited with status 70.",
} as const;

describe("sessionTable", () => {
  const asks = sessionView({
    name: "asks",
    activity: "awaiting-approval",
    need: "blocked",
    headline: 'Run "rm"?',
    approvals: 3,
  });

  it("puts whoever needs somebody first, and says what each asks, says or died of", async () => {
    const sessions = [
      sessionView(),
      sessionView({ name: "done", need: "finished", headline: "All 12 tests pass.", unseen: true }),
      sessionView({ name: "dead", ...dead, need: "failed", headline: "Error: no such file (exit status 70)" }),
      sessionView({ name: "failed", last_turn: "failed", need: "failed", headline: "Its turn failed: 429" }),
      asks,
      sessionView({ name: "busy", activity: "working", turn_open: true, need: "working", headline: "" }),
    ];
    expect(await sessionTable(sessions, { width: 100, hasColour: false }, now)).toBe(
      [
        "NAME     ID          AGENT     STATE    ACTIVITY           SINCE      INFO",
        'asks     abcdefghjk  practice  running  awaiting-approval  3 min ago  Run "rm"? (and 2 more)',
        "dead     abcdefghjk  practice  error    died               3 min ago  Error: no such file (exit sta…",
        "failed   abcdefghjk  practice  running  turn failed        3 min ago  Its turn failed: 429",
        "done     abcdefghjk  practice  running  finished           3 min ago  All 12 tests pass.",
        "busy     abcdefghjk  practice  running  working            3 min ago",
        "builder  abcdefghjk  practice  running  idle               3 min ago",
        "",
      ].join("\n"),
    );
  });

  it("names who started a session, where somebody did, and calls a program without turns at work as the summary does", async () => {
    const lead = sessionView({ name: "lead", session_id: "lead-id" });
    const build = sessionView({
      name: "build",
      agent: "command",
      parent_session_id: "lead-id",
      activity: "unknown",
      watched_by: "process",
      need: "working",
      headline: "",
    });
    const table = await sessionTable([lead, build], { width: 100, hasColour: false }, now);
    expect(table).toMatch(/^NAME +ID +AGENT +PARENT +STATE/);
    expect(table).toMatch(/^build +abcdefghjk +command +lead +running +working /m);
  });

  it("gives up id and agent, then the state, before what it does and what it asks", async () => {
    const table = (width: number): Promise<string> => sessionTable([asks], { width, hasColour: false }, now);
    expect(await table(60)).toBe(
      'NAME  STATE    ACTIVITY           INFO\nasks  running  awaiting-approval  Run "rm"? (and 2 more)\n',
    );
    expect(await table(45)).toBe('NAME  ACTIVITY           INFO\nasks  awaiting-approval  Run "rm"? (and 2 mo…\n');
  });

  it("leaves room for the question on 80 columns", async () => {
    const question = sessionView({
      name: "demo-crashes",
      activity: "awaiting-approval",
      headline: 'Run "npm publish"?',
    });
    expect(await sessionTable([question], { width: 80, hasColour: false }, now)).toBe(
      [
        "NAME          STATE    ACTIVITY           SINCE      INFO",
        'demo-crashes  running  awaiting-approval  3 min ago  Run "npm publish"?',
        "",
      ].join("\n"),
    );
  });

  it("says who waits for a usage limit, and until when, on 80 columns", async () => {
    const headline = "Waits until 08:05 UTC: the limit primary of codex work is reached.";
    const parked = sessionView({ need: "parked", headline });
    expect(await sessionTable([parked], { width: 80, hasColour: false }, now)).toBe(
      [
        "NAME     ID          STATE    ACTIVITY  SINCE      INFO",
        "builder  abcdefghjk  running  parked    3 min ago  Waits until 08:05 UTC: the l\u2026",
        "",
      ].join("\n"),
    );
  });

  it("lets no escape sequence and no second line through", async () => {
    const table = await sessionTable(
      [sessionView({ headline: "\u001B[31mred\u001B]0;title\u0007\nnext\tline" })],
      { width: null, hasColour: false },
      now,
    );
    expect(table).toContain("  red next line\n");
    expect(table.split("\n")).toHaveLength(3);
  });

  it("says for how long nothing was heard, or for how long it hangs", async () => {
    for (const verdict of ["stalled", "hung"] as const) {
      const health = { ...sessionView().health, verdict, since_at: "2026-11-15T11:55:00Z" };
      const quiet = sessionView({ activity: "working", need: "blocked", health });
      expect(await sessionTable([quiet], { width: 90, hasColour: false }, now)).toContain(`${verdict} 5 min`);
    }
  });

  it("colours states and needs when asked to", async () => {
    const table = await sessionTable([sessionView(dead), asks], { width: 120, hasColour: true }, now);
    expect(table).toContain("\u001B[31merror\u001B[0m");
    expect(table).toContain("\u001B[33mawaiting-approval\u001B[0m");
  });
});

describe("infoOf", () => {
  it("is what the daemon found most telling, else what is worth knowing", () => {
    expect(infoOf(sessionView({ headline: "Cannot be reached: tmux does not answer" }))).toBe(
      "Cannot be reached: tmux does not answer",
    );
    const lost = { ...sessionView().observability, status: "lost", reason: "Its transcript is gone." } as const;
    expect(infoOf(sessionView({ observability: lost }))).toBe("Its transcript is gone.");
    const background = [{ kind: "command" as const, title: "npm run dev", holds_turn: false }];
    expect(infoOf(sessionView({ background }))).toBe("Left running in the background: npm run dev");
    expect(infoOf(sessionView())).toBe("");
    const held = { reason: "the review", until: "2026-11-16T12:00:00.000Z", by: "operator" };
    expect(infoOf(sessionView({ headline: "All is done.", held }))).toMatch(/^All is done\..*Held: the review$/);
  });
});

describe("stateSentence", () => {
  it("says how it is known, once", () => {
    expect(stateSentence(sessionView({ reason: "Running." }))).toBe("builder is running. Running. (process 7)");
    const evidence = { source: "runtime", detail: "process 7 (%3)", at: "" } as const;
    expect(stateSentence(sessionView({ evidence }))).toBe("builder is running. Running as process 7.");
    expect(stateSentence(sessionView())).toBe("builder is running. Running as process 7.");
  });
});

describe("whyNotYet", () => {
  it("names what is waited for, and the way out", () => {
    expect(whyNotYet(sessionView({ activity: "working" }), false)).toBe(
      "builder is in the middle of a turn; it ends when the turn is over. To end it at once: reeve end builder --when now; to cancel that: reeve end builder --cancel",
    );
    expect(whyNotYet(sessionView({ activity: "awaiting-approval", asks: "May I?" }), false)).toBe(
      "builder was asked to stop; waiting until that is proven.",
    );
    expect(whyNotYet(sessionView({ activity: "working" }), true)).toBe(
      "builder was asked to stop; waiting until that is proven.",
    );
    expect(whyNotYet(sessionView({ liveness: "unreachable" }), false)).toContain("cannot be reached");
  });
});
