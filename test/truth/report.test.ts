import { expect, test } from "vitest";
import { parseCase } from "./case.ts";
import { readOptions } from "./options.ts";
import { replaced } from "./page.ts";
import { failuresText, killsText, tableOf } from "./report.ts";
import type { LaneResult } from "./run-case.ts";
import { trueHistory } from "./history-fixture.ts";
import { addUp, percentile } from "./tally.ts";

function lane(mode: LaneResult["mode"], more: Partial<LaneResult> = {}): LaneResult {
  return {
    mode,
    history: trueHistory(),
    findings: [],
    turns: 3,
    messages: 2,
    unknown: 1,
    corrected: 0,
    wakeDelays: [10, 20],
    ...more,
  };
}

test("the table has a column for each agent and one for all, and counts each kind", () => {
  const lost = { kind: "lost" as const, text: "", at: 0 };
  const totals = addUp([
    { lanes: [lane("claude", { findings: [lost, lost] }), lane("gemini")], recoveries: [100], kills: 1 },
    { lanes: [lane("gemini", { findings: [lost] })], recoveries: [], kills: 0 },
  ]);
  const table = tableOf(totals);
  expect(table).toContain("|  | claude | gemini | total |");
  expect(table).toContain("| turns | 3 | 6 | 9 |");
  expect(table).toContain("| **lost** | 2 | 1 | 3 |");
  expect(table).toContain("| **false idle** | 0 | 0 | 0 |");
  expect(table).toContain("| messages told unknown | 1 | 2 | 3 |");
});

test("each failure comes with the command that repeats it", () => {
  const finding = { kind: "fused" as const, text: "a draft came along", at: 0 };
  const theCase = parseCase("claude: start prompt=say | draft end=clear | end when=now");
  const text = failuresText([{ mode: "claude", kind: "fused", times: 2, finding, name: "1/7", theCase }]);
  expect(text).toContain("claude, fused (2 in this run)");
  expect(text).toContain("npm run truth -- --repeat 'claude: start prompt=say | draft end=clear | end when=now'");
  expect(failuresText([])).toBe("Nothing that was claimed was untrue.");
});

test("the table of kills counts what was lost in whatever way", () => {
  const findings = (["lost", "swallowed", "doubled", "left-behind"] as const).map((kind) => ({
    kind,
    text: "",
    at: 0,
  }));
  const text = killsText(
    {
      kills: 10,
      sessions: 3,
      sent: 9,
      delivered: 7,
      unknown: 2,
      refused: 0,
      unacknowledged: 0,
      operations: 4,
      recoveries: [100, 300],
      findings,
    },
    "1",
  );
  expect(text).toContain("| **lost** (messages and operations) | 2 |");
  expect(text).toContain("| **orphaned** (processes, panes, sessions) | 1 |");
  expect(text).toContain("| from a kill to the first answered list, p50 / p99 | 100 ms / 300 ms |");
});

test("percentiles", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile([], 0.5)]).toEqual([50, 99, null]);
});

test("a table takes the place of the one before it, and nothing else", () => {
  const page = "before\n<!-- truth: begin -->\nold\n<!-- truth: end -->\nafter";
  const once = replaced(page, "truth", "new");
  expect(once).toBe("before\n<!-- truth: begin -->\n\nnew\n\n<!-- truth: end -->\nafter");
  expect(replaced(once, "truth", "new")).toBe(once);
  expect(() => replaced(page, "kills", "new")).toThrow("no place");
});

test("what makes no sense on the command line is refused in a sentence", () => {
  expect(() => readOptions(["--agents", "vim"])).toThrow("--agents takes");
  expect(() => readOptions(["--minutes", "soon"])).toThrow("--minutes takes a number");
  expect(readOptions(["--agents", "codex,codex-hooks", "--repeat", "1/2", "--repeat", "1/3"])).toMatchObject({
    agents: ["codex", "codex-hooks"],
    repeat: ["1/2", "1/3"],
  });
});
