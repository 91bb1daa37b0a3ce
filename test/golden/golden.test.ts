/**
 * Real screens of real agents against the rules that ship for them:
 * `<agent>/<version>/<case>.txt`, made by the agent of that version.
 *
 *     title: ✳ Tidy up               the terminal's title; may be left out
 *     expect: awaiting-approval      the activity, or none: no rule may hold
 *     rule: approval-command         which rule says so; optional, the rest too
 *     asks: rm -r build
 *     turn: interrupted              "none" where no turn may be told of
 *     error: 429 Too Many Requests
 *     limit: gemini-pro 2026-11-17T08:10:00.000Z  which limit it says is reached, and when it resets; seen at 08:00 UTC that day
 *     composer: empty                what its composer is: empty, text or absent
 *     cursor: 2,26                   where it stands, column and row from 0; "hidden" behind it where it is
 *     faint: 26:2-25                 what is drawn faint, as row:from-to, several of them with blanks between
 *     approve: Yes, go on: Enter     of a dialog that keys can answer: what approve chooses, and which keys it presses
 *     deny: No, exit: Escape         and deny; a key that only selects, and is looked at, has `>` behind it
 *     shows: rm -r build             an approval whose question this is
 *     hides: rm -r src               and one that is open too, but not the one that is shown
 *     ---
 *     the screen, to the end of the file
 *
 * In some of the cases `old-frame-*` two such screens are put one below the other, as an agent leaves them that redraws without
 * clearing what it drew before.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Composer, parseComposer, readComposer } from "../../src/agent/composer.ts";
import type { Decision } from "../../src/session/approval.ts";
import { CURSOR, HIDDEN_CURSOR } from "../../src/runtime/contract.ts";
import { showingOf } from "../../src/supervisor/effect/visible-question.ts";
import { parseScreenRules, readScreen, type ScreenRule, type ScreenVerdict } from "../../src/agent/screen-rules.ts";

const GOLDENS = import.meta.dirname;
const RULES = join(import.meta.dirname, "..", "..", "rules");

const FIELDS = [
  "title",
  "expect",
  "rule",
  "asks",
  "turn",
  "error",
  "limit",
  "composer",
  "cursor",
  "faint",
  "shows",
  "hides",
  "approve",
  "deny",
];
/** An agent that is none of these takes messages, now or at the end of its turn. */
const ASKING = new Set(["awaiting-input", "awaiting-approval", "unknown"]);
/** What a golden only needs in order to be read. */
const SHOWN = new Set(["title", "cursor", "faint", "shows", "hides"]);

interface Golden {
  /** As a person would look for it. */
  readonly file: string;
  readonly version: string;
  readonly header: ReadonlyMap<string, string>;
  readonly screen: string;
  /** Why it cannot be read. */
  readonly problem: string | null;
}

interface Book {
  readonly rules: readonly ScreenRule[];
  readonly composer: Composer | null;
}

const agents = await Promise.all(
  namesIn(RULES, ".toml").map(async (agent) => {
    const toml = readFileSync(join(RULES, `${agent}.toml`), "utf8");
    const book: Book = { rules: await parseScreenRules(toml), composer: await parseComposer(toml) };
    const goldens = directoriesIn(GOLDENS).includes(agent) ? goldensOf(agent) : [];
    return { agent, book, goldens };
  }),
);

test("every golden screen belongs to an agent that has rules", () => {
  const orphans = directoriesIn(GOLDENS)
    .filter((agent) => !agents.some((known) => known.agent === agent))
    .flatMap((agent) => goldensOf(agent).map(({ file }) => file));
  expect(orphans, "golden screens without rules/<agent>.toml").toEqual([]);
});

describe.each(agents)("$agent", ({ agent, book, goldens }) => {
  const { rules } = book;
  test("has golden screens", () => {
    expect(goldens.length, `test/golden/${agent}/<version>/<case>.txt`).toBeGreaterThan(0);
  });

  test.each(goldens)("$file", (golden) => {
    expect(golden.problem, golden.file).toBeNull();
    expect(seen(golden, book), golden.file).toEqual(wanted(golden));
  });

  // Whatever is not positively its composer is not idle and takes no message. The practice agent takes one for an answer.
  test.each(goldens.filter(({ header }) => agent !== "practice" && ASKING.has(header.get("expect") ?? "")))(
    "nothing is typed into $file",
    (golden) => {
      expect(standingOf(golden, book), golden.file).not.toBe("empty");
    },
  );

  test.each(goldens.filter(({ header }) => header.has("shows")))(
    "the question in $file is recognised by its text",
    (golden) => {
      const dialog = verdictOf(golden, book)?.reading.dialog ?? "";
      expect(showingOf([golden.header.get("shows") ?? ""], dialog), dialog).not.toBe("no");
      expect(showingOf([golden.header.get("hides") ?? "something else altogether"], dialog), dialog).toBe("no");
    },
  );

  test("names each rule once", () => {
    const names = rules.map(({ name }) => name);
    expect(names, `rules/${agent}.toml`).toEqual([...new Set(names)]);
  });

  test("has a golden for each rule", () => {
    const proven = new Set(goldens.map((golden) => verdictOf(golden, book)?.rule));
    const unproven = rules.map(({ name }) => name).filter((name) => !proven.has(name));
    expect(unproven, `rules of rules/${agent}.toml that no golden of ${agent} is read by`).toEqual([]);
  });
});

function verdictOf(golden: Golden, { rules, composer }: Book): ScreenVerdict | null {
  const { version, header, screen } = golden;
  const at = Date.parse("2026-11-17T08:00:00Z");
  const view = { text: screen, solid: solidOf(golden), title: header.get("title") ?? "", at };
  return readScreen(rules, view, version, composer);
}

function standingOf(golden: Golden, { composer }: Book): string {
  return composer === null ? "none" : readComposer(composer, solidOf(golden)).state;
}

/** The screen as the runtime would have shown it: without what is faint, and with its cursor. */
function solidOf({ header, screen }: Golden): string {
  const lines = screen.split("\n").map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  for (const range of header.get("faint")?.split(" ") ?? []) {
    const [row = 0, from = 0, to = 0] = range.split(/[:-]/).map(Number);
    const line = lines[row] ?? "";
    lines[row] =
      line.slice(0, from) + line.slice(from, to + 1).replaceAll(/[^\s\u2500-\u259f]/gu, " ") + line.slice(to + 1);
  }
  const [, column = "0", row = "", hidden = ""] = /^(\d+),(\d+)( hidden)?$/.exec(header.get("cursor") ?? "") ?? [];
  const line = lines[Number(row)];
  if (row !== "" && line !== undefined) {
    const at = Number(column);
    lines[Number(row)] = line.slice(0, at).padEnd(at) + (hidden === "" ? CURSOR : HIDDEN_CURSOR) + line.slice(at);
  }
  return lines.map((each) => each.trimEnd()).join("\n");
}

/** What the rules say, as far as the golden speaks of it. */
function seen(golden: Golden, book: Book): object {
  const verdict = verdictOf(golden, book);
  const turn = verdict?.reading.turn;
  return asFarAs(golden, {
    expect: verdict?.reading.activity ?? "none",
    rule: verdict?.rule ?? "none",
    asks: verdict?.reading.asks ?? "none",
    turn: turn?.phase ?? "none",
    error: turn?.phase === "failed" ? turn.error : "none",
    limit: limitOf(verdict),
    composer: standingOf(golden, book),
    approve: choiceOf(verdict, "approved"),
    deny: choiceOf(verdict, "denied"),
  });
}

function limitOf(verdict: ScreenVerdict | null): string {
  const { limit, resetsAt } = verdict?.reading.limits?.[0] ?? {};
  const when = typeof resetsAt === "number" ? [new Date(resetsAt).toISOString()] : [];
  return limit === undefined ? "none" : [limit, ...when].join(" ");
}

function choiceOf(verdict: ScreenVerdict | null, decision: Decision): string {
  const { approval, answers } = verdict?.reading ?? {};
  if (approval === undefined || !("requested" in approval) || answers === undefined) return "none";
  const { move, keys } = answers[decision];
  return `${approval.choices?.[decision] ?? "none"}: ${[...(move === null ? [] : [`${move}>`]), ...keys].join(" ")}`;
}

function wanted({ header }: Golden): object {
  return Object.fromEntries([...header].filter(([key]) => !SHOWN.has(key)));
}

/** Where it says little, the rule is shown as well when the activity is not as expected. */
function asFarAs({ header }: Golden, all: Readonly<Record<string, string>>): object {
  const isAsWanted = all["expect"] === header.get("expect");
  return Object.fromEntries(Object.entries(all).filter(([key]) => header.has(key) || (key === "rule" && !isAsWanted)));
}

function goldensOf(agent: string): readonly Golden[] {
  return directoriesIn(join(GOLDENS, agent)).flatMap((version) =>
    namesIn(join(GOLDENS, agent, version), ".txt").map((name) => {
      const path = join(GOLDENS, agent, version, `${name}.txt`);
      return parseGolden(`${agent}/${version}/${name}.txt`, version, readFileSync(path, "utf8"));
    }),
  );
}

function parseGolden(file: string, version: string, text: string): Golden {
  const separator = text.startsWith("---\n") ? 0 : text.indexOf("\n---\n") + 1;
  const header = new Map<string, string>();
  let problem = separator === 0 ? "there is no header that says what to expect, ended by a line ---" : null;
  for (const line of text
    .slice(0, separator)
    .split("\n")
    .filter((each) => each !== "")) {
    const [, key = "", value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (!FIELDS.includes(key)) problem ??= `"${line}" is not one of ${FIELDS.join(", ")}`;
    header.set(key, value);
  }
  if (!header.has("expect")) problem ??= "the header does not say what to expect";
  return { file, version, header, screen: text.slice(separator + "---\n".length), problem };
}

function directoriesIn(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

function namesIn(path: string, suffix: string): readonly string[] {
  return readdirSync(path).flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []));
}
