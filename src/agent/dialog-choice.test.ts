/** How a rule says which keys answer a dialog, and what is read of it. */
import { describe, expect, test } from "vitest";
import { parseScreenRules, readScreen } from "./screen-rules.ts";

const RULE = String.raw`
[[rule]]
name = "trust"
screen = '^Trust '
activity = "awaiting-approval"
asks = '^Trust .+\?$'
dialog = '((?:.*\n)*)[> ] Yes'
`;
const ANSWERS = String.raw`
[rule.approve]
choice = '^[> ] (Yes, .+)$'
selected = '^> Yes'
move = "Up"
keys = ["Enter"]

[rule.deny]
choice = '^[> ] (No)$'
means = "ends the session"
keys = ["Escape"]
`;
const rules = await parseScreenRules(`${RULE}${ANSWERS}`);
const seen = (text: string) => readScreen(rules, { text, title: "" }, null)?.reading ?? null;
const screen = (folder: string, selected: "Yes" | "No"): string =>
  [
    `│ /home/${folder}  │`,
    "",
    "Trust this?",
    `${selected === "Yes" ? ">" : " "} Yes, go on`,
    `${selected === "No" ? ">" : " "} No`,
  ].join("\n");
const idOf = (text: string): string | undefined => {
  const approval = seen(text)?.approval;
  return approval !== undefined && "requested" in approval ? approval.requested.id : undefined;
};

describe("a dialog with choices", () => {
  test("is an approval with its text, its choices and the keys of each", () => {
    expect(seen(screen("me", "No"))).toEqual({
      source: "screen",
      detail: "rule trust",
      activity: "awaiting-approval",
      asks: "Trust this?",
      dialog: "│ /home/me  │\n\nTrust this?",
      approval: {
        requested: {
          id: expect.stringMatching(/^dialog-trust-[0-9a-f]{8}$/) as string,
          kind: "other",
          title: "Trust this?",
          subject: "/home/me\n\nTrust this?",
          cwd: null,
          reason: null,
        },
        choices: { approved: "Yes, go on", denied: "No (ends the session)" },
      },
      answers: { approved: { move: "Up", keys: ["Enter"] }, denied: { move: null, keys: ["Escape"] } },
    });
  });

  test("is the same whatever is selected and however it is wrapped, and another with another text", () => {
    const before = idOf(screen("me", "No"));
    expect(seen(screen("me", "Yes"))?.answers?.approved).toEqual({ move: null, keys: ["Enter"] });
    expect(idOf(screen("me", "Yes"))).toBe(before);
    expect(idOf(screen("me", "No").replace("/home/me", "/home/\nme"))).toBe(before);
    expect(idOf(screen("you", "No"))).not.toBe(before);
  });

  test("is not the rule's where a choice is missing", () => {
    expect(seen(screen("me", "No").replace(" No", " Never"))).toBeNull();
  });
});

test.each([
  ["approve alone", ANSWERS.replace("[rule.deny]", "[other]"), /there is no section \[other\]/],
  ["no keys", ANSWERS.replace('keys = ["Escape"]', ""), /rule 1: trust: deny: needs choice and keys/],
  ["a key that is not known", ANSWERS.replace('"Escape"', '"F5"'), /trust: deny: knows only the keys Enter, /],
  ["a key to move alone", ANSWERS.replace("selected = '^> Yes'", ""), /approve: selected and move belong together/],
  ["an unknown field", ANSWERS.replace("means", "meaning"), /trust: deny: there is no field meaning/],
  ["a wrong pattern", ANSWERS.replace("'^[> ] (No)$'", "'('"), /trust: /],
  ["no table", 'approve = "y"', /approve must be a table/],
])("a rule with %s is refused", async (_what, answers, problem) => {
  await expect(parseScreenRules(`${RULE}${answers}`)).rejects.toThrow(problem);
});

test("choices belong to an approval", async () => {
  const rule = RULE.replace("awaiting-approval", "awaiting-input");
  await expect(parseScreenRules(`${rule}${ANSWERS}`)).rejects.toThrow(/activity must be awaiting-approval/);
});
