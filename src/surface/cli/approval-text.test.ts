import { describe, expect, it } from "vitest";
import type { ApprovalView } from "./approval-text.ts";
import { answerSentence, approvalTable } from "./approval-text.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const plain = { width: 80, hasColour: false };

function approval(fields: Partial<ApprovalView> = {}): ApprovalView {
  return {
    approval_id: "turn-1",
    session_id: "abcdefghjk",
    session_name: "builder",
    agent: "practice",
    kind: "command",
    title: "Run: npm test",
    subject: "npm test",
    cwd: null,
    reason: null,
    requested_at: "2026-11-15T11:57:00.000Z",
    answer: null,
    choices: null,
    answerable: true,
    how_to_answer: null,
    ...fields,
  };
}

async function linesOf(approvals: readonly ApprovalView[], output = plain): Promise<string[]> {
  return (await approvalTable(approvals, output, now)).trimEnd().split("\n");
}

describe("approvalTable", () => {
  it("says who asks what, where and why, and nothing twice", async () => {
    const asked = [
      approval({ cwd: "/work", reason: "To see whether it passes." }),
      approval({ session_id: "other", session_name: "writer", kind: "other", title: "Go on?", subject: null }),
      approval({ session_id: "third", session_name: "third", title: "Run: ls", subject: "ls", answer: "approved" }),
    ];
    expect(await linesOf(asked)).toEqual([
      "SESSION  ASKED      KIND     ASKS",
      "builder  3 min ago  command  Run: npm test",
      "    in /work",
      "    reason: To see whether it passes.",
      "writer   3 min ago  other    Go on?",
      "third    3 min ago  command  Run: ls",
      "    being answered: approved",
    ]);
  });

  it("shows in full below what the table had to cut", async () => {
    const command = "npm test -- --reporter=dot && rm -r build/output && curl https://example.org/x";
    const title = `Run: ${command}`;
    const [, row, ...below] = await linesOf([approval({ title, subject: command })], { ...plain, width: 50 });
    expect(row).toMatch(/…$/);
    expect(below).toEqual([`    ${title}`]);
    expect(await linesOf([approval({ title, subject: null })], { ...plain, width: 50 })).toContain(`    ${title}`);
    expect(await linesOf([approval({ title: "Run: npm test…", subject: command })])).toContain(`    ${command}`);
  });

  it("keeps the lines of a command, and says how many it left out", async () => {
    const subject = "cat <<END\none\n\ttwo\nEND\n";
    expect(await linesOf([approval({ title: "Run: cat <<END one two END", subject })])).toEqual([
      "SESSION  ASKED      KIND     ASKS",
      "builder  3 min ago  command  Run: cat <<END one two END",
      "    cat <<END",
      "    one",
      "    \ttwo",
      "    END",
    ]);
    const long = Array.from({ length: 45 }, (_, index) => `line ${index + 1}`).join("\n");
    const shown = await linesOf([approval({ subject: long })]);
    expect(shown.slice(-2)).toEqual(["    line 30", "    (15 more lines; with --json all of it)"]);
  });

  it("says where a dialog of the agent itself is answered", async () => {
    const dialog = approval({
      approval_id: "dialog",
      kind: "other",
      title: "Trust it?",
      subject: null,
      answerable: false,
      how_to_answer: "Answer it in the session: reeve attach builder.",
    });
    expect(await linesOf([dialog])).toEqual([
      "SESSION  ASKED      KIND   ASKS",
      "builder  3 min ago  other  Trust it?",
      "    Answer it in the session: reeve attach builder.",
    ]);
  });

  it("shows the choices of a dialog", async () => {
    const choices = { approved: "Yes, I trust it", denied: "No, exit (ends the session)" };
    const dialog = approval({ kind: "other", title: "Trust it?", subject: "/home/me/app\n\nTrust it?", choices });
    expect(await linesOf([dialog])).toEqual([
      "SESSION  ASKED      KIND   ASKS",
      "builder  3 min ago  other  Trust it?",
      "    /home/me/app",
      "    ",
      "    Trust it?",
      "    approve: Yes, I trust it",
      "    deny: No, exit (ends the session)",
    ]);
  });

  it("names the approvals of a session that asks several", async () => {
    const shown = await linesOf([approval(), approval({ approval_id: "turn-2", title: "Run: ls", subject: "ls" })]);
    expect(shown.filter((line) => line.startsWith("    "))).toEqual(["    approval: turn-1", "    approval: turn-2"]);
  });

  it("lets no escape sequence through", async () => {
    const evil = "\u001B[2Ja\u001B]0;t\u0007b\u202E";
    const text = await approvalTable(
      [approval({ title: evil, subject: `${evil}\n${evil}`, cwd: evil, reason: `why ${evil}`, session_name: evil })],
      plain,
      now,
    );
    expect(text).not.toMatch(/[\u001B\u0007\u202E]/);
    expect(text).toContain("    reason: why ab<U+202E>\n");
  });
});

describe("answerSentence", () => {
  const answered = {
    approval_id: "turn-1",
    session_id: "abcdefghjk",
    title: null,
    state: "settled",
    decision: "approved",
    by: "operator",
    detail: "PostToolUse hook",
    cursor: 1,
  } as const;

  it("says that it took effect, and how that is known", () => {
    expect(answerSentence(answered, "approved", "Run: npm test")).toBe(
      "Approved: Run: npm test; it took effect (PostToolUse hook).",
    );
    expect(answerSentence({ ...answered, decision: "denied" }, "denied", "Go on?")).toBe(
      "Denied: Go on? It took effect (PostToolUse hook).",
    );
    expect(answerSentence({ ...answered, detail: null }, "approved", null)).toBe("Approved; it took effect.");
  });

  it("says who was there before", () => {
    expect(answerSentence({ ...answered, by: "pane" }, "approved", "Go on?")).toBe(
      "Somebody approved it in the pane before: Go on? (PostToolUse hook)",
    );
    expect(answerSentence({ ...answered, by: "pane" }, "denied", "Go on?")).toBe(
      "Not denied: somebody approved it in the pane before: Go on? (PostToolUse hook)",
    );
    expect(answerSentence({ ...answered, by: "agent", decision: null, detail: "Stop hook" }, "denied", null)).toBe(
      "Not denied: it is no longer asked, and nobody saw how it was answered (Stop hook)",
    );
  });

  it("says why it did not, or not yet", () => {
    const failed = { ...answered, state: "failed", decision: null, by: null, detail: "No key was pressed." } as const;
    expect(answerSentence(failed, "approved", "Run: npm test")).toBe(
      "Not approved: Run: npm test. No key was pressed.",
    );
    expect(answerSentence(failed, "approved", null)).toBe("Not approved: No key was pressed.");
    expect(answerSentence({ ...failed, state: "pending", detail: "The agent waits." }, "denied", "Go on?")).toBe(
      "Not denied yet: Go on? The agent waits. See whether it took effect with: reeve approvals",
    );
  });
});
