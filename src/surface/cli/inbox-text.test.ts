import { describe, expect, test } from "vitest";
import { answeredText, inboxFooter, type InboxItemView, inboxTable, itemText } from "./inbox-text.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
const plain = { width: 60, hasColour: false };

const item = (changes: Partial<InboxItemView> = {}): InboxItemView => ({
  item_id: "inbox-1",
  number: 3,
  kind: "approval",
  urgency: "blocked",
  state: "open",
  session_id: "s",
  session_name: "builder",
  title: 'builder asks: Run "npm publish"?',
  happened: "It asks before it goes on:\nnpm publish",
  reeve_did: "Reeve did not answer for you; the agent waits.",
  suggestion: "Approve or deny it.",
  answers: ["approve", "deny", "acknowledge", "snooze"],
  approval_id: "a",
  since: "2026-11-17T11:58:00Z",
  opened_at: "2026-11-17T11:58:00Z",
  snoozed_until: null,
  closed_at: null,
  closed_why: null,
  ...changes,
});

describe("the inbox in words", () => {
  test("a table says nothing of states as long as everything is open", async () => {
    const open = { items: [item()], open: 1, cursor: 9 };
    expect(await inboxTable(open, plain, NOW)).toBe(
      ["NO  NEED     SINCE      WHAT", '3   blocked  2 min ago  builder asks: Run "npm publish"?', ""].join("\n"),
    );
    const later = item({ number: 4, state: "snoozed", snoozed_until: "2026-11-17T12:30:00Z" });
    expect(await inboxTable({ ...open, items: [item(), later] }, { ...plain, width: 90 }, NOW)).toContain(
      "back in 30 min",
    );
  });

  test("the footer says how to go on, and nothing where nothing is open", () => {
    expect(inboxFooter({ items: [item()], open: 1, cursor: 9 })).toEqual([
      "1 item waits for you. See the first in full: reeve inbox next. Answer it with: reeve inbox answer 3 approve",
    ]);
    expect(inboxFooter({ items: [item({ state: "acknowledged" })], open: 0, cursor: 9 })).toEqual([]);
  });

  test("one item has what happened in its own lines, and every answer as it is typed", async () => {
    expect(await itemText(item(), plain, NOW)).toBe(`3. builder asks: Run "npm publish"?
blocked, 2 min ago

What happened
  It asks before it goes on:
  npm publish

What Reeve did
  Reeve did not answer for you; the agent waits.

What Reeve suggests
  Approve or deny it.

You can answer
  reeve inbox answer 3 approve
  reeve inbox answer 3 deny
  reeve inbox answer 3 ack
  reeve inbox answer 3 snooze 30m
`);
  });

  test("the commands are left out where the answer is asked for; of what is over it says why", async () => {
    expect(await itemText(item(), plain, NOW, true)).not.toContain("You can answer");
    const over = await itemText(item({ state: "closed", closed_why: "The session was ended." }), plain, NOW);
    expect(over).toMatch(/It is over\n {2}The session was ended\.\n$/);
    expect(over).not.toContain("What Reeve suggests");
  });

  test("an answer is told with what came of it", () => {
    const answered = { done: true, item: item({ state: "closed" }), note: "It took effect." };
    expect(answeredText(answered, "approve", NOW)).toBe('3 approved: builder asks: Run "npm publish"? It took effect.');
    const off = { done: true, note: null, item: item({ state: "snoozed", snoozed_until: "2026-11-17T14:00:00Z" }) };
    expect(answeredText(off, "snooze", NOW)).toBe('3 put off, back in 2 h: builder asks: Run "npm publish"?');
    expect(answeredText({ ...answered, done: false }, "deny", NOW)).toMatch(/^3 not denied yet: /);
  });
});
