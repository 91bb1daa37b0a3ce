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
  it("says what each session does, asks or died of", async () => {
    const sessions = [
      sessionView(),
      sessionView({ name: "asks", activity: "awaiting-approval", asks: 'Run "rm"?' }),
      sessionView({ name: "dead", ...dead, asks: "old question" }),
      sessionView({ name: "new", state: "planned", started_at: null, activity: "starting" }),
    ];
    expect(await sessionTable(sessions, { width: 100, hasColour: false }, now)).toBe(
      [
        "NAME     ID          AGENT     STATE    ACTIVITY           STARTED    INFO",
        "builder  abcdefghjk  practice  running  idle               3 min ago  Running as process 7.",
        'asks     abcdefghjk  practice  running  awaiting-approval  3 min ago  Run "rm"?',
        "dead     abcdefghjk  practice  error    -                  3 min ago  Its process exited with statu…",
        "new      abcdefghjk  practice  planned  starting           3 min ago  Running as process 7.",
        "",
      ].join("\n"),
    );
  });

  it("keeps a name, a state and a sentence on a narrow terminal", async () => {
    const table = await sessionTable(
      [sessionView({ name: "a-rather-long-name-for-a-session", asks: "May I?" })],
      { width: 40, hasColour: false },
      now,
    );
    expect(table).toBe("NAME           STATE    ACTIVITY  INFO\na-rather-lon…  running  idle      May I?\n");
  });

  it("lets no escape sequence and no second line through", async () => {
    const table = await sessionTable(
      [sessionView({ asks: "\u001B[31mred\u001B]0;title\u0007\nnext\tline" })],
      { width: null, hasColour: false },
      now,
    );
    expect(table).toContain("  red next line\n");
    expect(table.split("\n")).toHaveLength(3);
  });

  it("shows at a glance who waits for somebody, in the room there is", async () => {
    const sessions = [
      sessionView({
        name: "quiet",
        activity: "working",
        turn_open: true,
        stalled_since: "2026-11-15T11:55:00.000Z",
        guidance: "Nothing was heard of its turn for a while.",
      }),
      sessionView({ name: "asks", activity: "awaiting-approval", asks: "Run: ls", approvals: 3 }),
      sessionView({ name: "failed", last_turn: "failed" }),
      sessionView({ name: "again", last_turn: "failed", turn_open: true, activity: "working" }),
      sessionView({ name: "dead", ...dead, stalled_since: "2026-11-15T11:55:00.000Z", last_turn: "failed" }),
    ];
    expect(await sessionTable(sessions, { width: 90, hasColour: false }, now)).toBe(
      [
        "NAME    ID          AGENT     STATE    ACTIVITY           STARTED    INFO",
        "quiet   abcdefghjk  practice  running  stalled 5 min      3 min ago  Nothing was heard of…",
        "asks    abcdefghjk  practice  running  awaiting-approval  3 min ago  Run: ls (and 2 more)",
        "failed  abcdefghjk  practice  running  idle               3 min ago  Its last turn failed.",
        "again   abcdefghjk  practice  running  working            3 min ago  Running as process 7.",
        "dead    abcdefghjk  practice  error    -                  3 min ago  Its process exited w…",
        "",
      ].join("\n"),
    );
  });

  it("colours states when asked to", async () => {
    expect(await sessionTable([sessionView(dead)], { width: 120, hasColour: true }, now)).toContain(
      "\u001B[31merror\u001B[0m",
    );
  });
});

describe("infoOf", () => {
  it("prefers what stands in the way", () => {
    expect(infoOf(sessionView({ liveness: "unreachable", liveness_evidence: "tmux does not answer" }))).toBe(
      "Cannot be reached: tmux does not answer",
    );
    expect(infoOf(sessionView({ desired: "stopped" }))).toBe("Being ended. Running as process 7.");
    expect(
      infoOf(
        sessionView({
          observability: { ...sessionView().observability, status: "lost", reason: "Its transcript is gone." },
        }),
      ),
    ).toBe("Its transcript is gone.");
  });
});

describe("stateSentence", () => {
  it("says how it is known, once", () => {
    expect(stateSentence(sessionView({ reason: "Running." }))).toBe(
      "builder is running. Running. (runtime: process 7)",
    );
    expect(stateSentence(sessionView())).toBe("builder is running. Running as process 7. (runtime)");
  });
});

describe("whyNotYet", () => {
  it("names what is waited for, and the way out", () => {
    expect(whyNotYet(sessionView({ activity: "working" }), false)).toBe(
      "builder is in the middle of a turn; it ends when the turn is over. To end it at once: reeve end builder --when now; to take it back: reeve end builder --cancel",
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
