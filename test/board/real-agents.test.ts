/**
 * The board over five sessions of the real agents, driven by keys in a real
 * tmux: one asks and is approved there, one is killed, the daemon is
 * killed; each time the board is right. What is seen is in golden/.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { childrenOf, readCommandLine } from "../../src/platform/process-table.ts";
import { disposeWhole } from "../real-agents/rig.ts";
import { eventually } from "../support/eventually.ts";
import type { BoardRig } from "./board-rig.ts";
import { masked, openBoard, showsGolden } from "./board-rig.ts";
import type { FiveAgents } from "./five-agents.ts";
import { startFiveAgents } from "./five-agents.ts";

const SIZES = [
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
] as const;
const LOOKS = [
  { look: "colour", variables: {} },
  { look: "plain", variables: { NO_COLOR: "1" } },
] as const;
const CASES = SIZES.flatMap((size) => LOOKS.map((look) => ({ ...size, ...look })));
const NAMES = ["asker", "builder", "server", "writer", "reviewer"];

let five: FiveAgents;
let board: BoardRig | null = null;
beforeAll(async () => {
  five = await startFiveAgents();
}, 120_000);
afterEach(async () => {
  await board?.close();
  board = null;
});
afterAll(() => disposeWhole(five), 60_000);

async function open(columns: number, rows: number, variables: Readonly<Record<string, string>> = {}) {
  board = await openBoard(five.home, { columns, rows, variables });
  return board;
}

/** What agents show of themselves that differs from run to run, or with their version. */
function quiet(screen: string): string {
  return masked(screen)
    .replaceAll(/(?<=reeve-work-)\w{1,6}/g, (name) => "x".repeat(name.length))
    .replaceAll(/\bv\d+\.\d+\.\d+/g, (version) => version.replaceAll(/\d/g, "#"));
}

describe("five sessions of the real agents", { timeout: 90_000 }, () => {
  test.each(CASES)("one asks: $columns x $rows, $look", async ({ columns, rows, look, variables }) => {
    const shown = await open(columns, rows, variables);
    await shown.shows("Esc to cancel");
    await showsGolden(`agents-${columns}x${rows}-${look}`, async () =>
      quiet(await (look === "colour" ? shown.coloured() : shown.screen())),
    );
  });

  test("a approves it there: the agent goes on, and the file is written", async () => {
    const shown = await open(80, 24);
    await shown.row("asker", "needs you .*Run: touch");
    await shown.shows(/^> asker/m);
    await shown.shows("a approves");
    expect(existsSync(five.touched)).toBe(false);
    await eventually("the question could be read", async () => {
      await shown.press("a");
      return /just changed/.exec(await shown.shows(/Approved: |just changed/)) === null;
    });
    await shown.row("asker", "(?:finished|idle) .*The file is there\\.");
    expect(existsSync(five.touched)).toBe(true);
    await shown.press("j");
    await shown.shows(/^Reeve {2}(?!.*needs? you)/);
    expect(await five.home.json("approvals")).toMatchObject({ approvals: [] });
  });

  test("kill -9 of an agent: it is on top, with what it died of", async () => {
    const shown = await open(80, 24);
    await shown.row("builder", "working");
    const { runtime } = await five.home.session("builder");
    const [agent = Number.NaN] = childrenOf(runtime.pid ?? Number.NaN);
    expect(readCommandLine(agent)).toContain("claude");
    process.kill(agent, "SIGKILL");
    await shown.row("builder", "failed .*killed by SIGKILL");
    expect((await shown.shows("1 failed")).split("\n")[1]).toMatch(/^[> ] builder /);
    await shown.press("g");
    expect(await shown.shows(/^Last screen:$/m)).toContain("[[hang]]");
  });

  test.each(SIZES)("what is seen then, at $columns x $rows", async ({ columns, rows }) => {
    await five.home.json("seen", ...NAMES.filter((name) => name !== "builder"));
    const shown = await open(columns, rows, { NO_COLOR: "1" });
    await shown.row("server", "working");
    await shown.press("j");
    await showsGolden(`agents-${columns}x${rows}-died`, async () => quiet(await shown.screen()));
  });

  test("kill -9 of the daemon: the board says so, comes back by itself, and is right", async () => {
    const shown = await open(80, 24);
    await shown.shows("1 failed");
    await shown.press("G");
    const before = listedIn(await shown.shows(/^> reviewer/m));
    const written = join(five.home.dir, "written");
    await shown.record(written);
    expect(five.home.killRunningDaemon()).toBe(true);
    await eventually("it was said on the screen", () => /reconnecting/.test(readFileSync(written, "utf8")), 20_000);
    await shown.shows(/^Reeve {2}(?!reconnecting).*1 failed/);
    expect(listedIn(await shown.screen())).toEqual(before);
    expect((await five.home.list()).map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
    // It is live: what is sent from it now is seen to be done.
    await shown.press("r");
    await shown.type("[[say Still here.]]");
    await shown.press("Enter");
    await shown.row("reviewer", "(?:finished|idle) .*Still here\\.");
    expect(listedIn(await shown.screen()).toSorted()).toEqual(before.toSorted());
  });
});

/** The names in the list, from top to bottom. */
function listedIn(screen: string): readonly string[] {
  return screen.split("\n").flatMap((line) => /^[> ] (\w+) +(?:claude|codex|gemini|command) /.exec(line)?.[1] ?? []);
}
