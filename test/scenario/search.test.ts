/** `reeve search` and `reeve stats` as people use them: with the practice agent, and with lines that the real Codex wrote. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { goldenLines, REAL_TRANSCRIPTS } from "../bench/support/real-transcript.ts";
import { eventually } from "../support/eventually.ts";
import { clientOf, operatorOf } from "../support/session-caller.ts";
import { standInCodex } from "../support/stand-in-codex.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

interface Found {
  readonly kind: string;
  readonly session: string | null;
  readonly who: string;
  readonly excerpt: string;
  readonly hits: readonly { readonly start: number; readonly end: number }[];
}

const CANARY = "canary-Xy7-99-zebra";
let home: TestHome;
let one: SessionRow;
beforeAll(async () => {
  home = createTestHome();
  home.configure(standInCodex(home).toml);
  const said = `look at foo_bar in src/app.ts, 日本語のテスト 🦀, the key is ${CANARY}`;
  one = await home.json("start", "practice", said, "--name", "one", "--role", "builder", "--env", `SPECIAL=${CANARY}`);
  await home.json("start", "practice", "nothing about that here", "--name", "two");
  for (const name of ["one", "two"]) await home.json("wait", name, "--for", "turn-completed");
  await home.json("mail", "send", "operator", "the connection was refused at foo_bar");
});
afterAll(() => home.dispose());

async function found(...args: readonly string[]): Promise<readonly Found[]> {
  return (await home.json<{ found: Found[] }>("search", ...args)).found;
}

const who = (all: readonly Found[]): readonly string[] =>
  all.map(({ session, who: by }) => `${session}: ${by}`).toSorted();

test("what was just said, happened or sent is found by its parts", async () => {
  await eventually("both messages are in", async () => (await found("app.ts")).length === 2);
  expect(who(await found("foo_bar"))).toEqual(["null: operator", "one: assistant", "one: user"]);
  expect(who(await found("本語"))).toEqual(["one: assistant", "one: user"]);
  expect(who(await found("🦀", "--kind", "message", "--role", "builder"))).toHaveLength(2);
  expect(who(await found("connection", "ref*", "--kind", "mail"))).toEqual(["null: operator"]);
  expect(who(await found("turn-completed", "--kind", "event"))).toEqual(["one: turn-completed", "two: turn-completed"]);
  expect(await found("foo_bar", "--session", "two")).toEqual([]);
  expect(await found('"bar foo"')).toEqual([]);
  expect(await found("foo_bar", "--until", "1d")).toEqual([]);
  const [first] = await found("src/app.ts", "--kind", "message", "--limit", "1");
  const { start = 0, end = 0 } = first?.hits[0] ?? {};
  expect(first?.excerpt.slice(start, end)).toBe("src/app.ts");
});

test("people see a line with the place, and the hit marked where there is colour", async () => {
  const plain = await home.run(["search", "refused"]);
  expect(plain.stdout).toMatch(
    /^you {2}mail from operator \(mail-\w+\), .*\n {4}the connection was refused at foo_bar/,
  );
  const colour = await home.run(["search", "refused"], { environment: { FORCE_COLOR: "1" } });
  expect(colour.stdout).toContain("\u001B[33mrefused\u001B[0m");
  expect((await home.run(["search", "nowhere-to-be-found"])).stderr).toContain("Nothing was found.");
});

test("no secret of a session is in the index", async () => {
  expect((await found("key", "--session", "one"))[0]?.excerpt).toContain("the key is [redacted]");
  expect(await found(CANARY)).toEqual([]);
  for (const suffix of ["", "-wal"]) {
    const path = join(home.dir, `search.db${suffix}`);
    expect(readFileSync(path).includes(CANARY), path).toBe(false);
  }
});

test("a session finds only what it may read", async () => {
  const inside = await clientOf(home, await home.session("two"));
  expect((await inside.search({ text: "foo_bar" })).found).toEqual([]);
  expect((await inside.search({ text: "nothing about" })).found.length).toBeGreaterThan(0);
  await expect(inside.search({ text: "x", session: one.session_id })).rejects.toMatchObject({ code: "not-allowed" });
  expect((await inside.getStats({ by: "session" })).groups.map(({ name }) => name)).toEqual(["two"]);
});

test("bad input is refused with a sentence", async () => {
  for (const [args, words] of [
    [["!!!"], "at least one letter"],
    [["x", "--since", "soon"], "--since needs an age"],
    [["x", "--page", "first"], "page must be the next_page"],
    [["x", "--kind", "poem"], "poem"],
    [["x", "--session", "nobody"], "nobody"],
  ] as const) {
    const { status, stderr } = await home.run(["search", ...args]);
    expect(status, args.join(" ")).not.toBe(0);
    expect(stderr).toContain(words);
  }
});

test("what the real Codex wrote is found, and its tokens are counted", async () => {
  const codex = standInCodex(home);
  await codex.start("talker", "--role", "review");
  const [first = "", ...rest] = goldenLines(REAL_TRANSCRIPTS.codex);
  writeFileSync(codex.rolloutPath, `${first}\n`);
  appendFileSync(codex.rolloutPath, `${rest.join("\n")}\n`);
  codex.event("task_complete", { turn_id: "t1", last_agent_message: "x" });
  await eventually("its words are found", async () => (await found('"fine with me"', "--agent", "codex")).length === 1);
  expect(who(await found("touch", "--agent", "codex", "--kind", "tool"))).toContain("talker: exec_command");
  const { groups } = await operatorOf(home).getStats({ by: "role" });
  const review = groups.find(({ group }) => group === "review");
  expect(review?.tokens).toEqual({ input: 200, cached_input: 40, output: 20 });
  expect(review).toMatchObject({ cost_usd: null, calls: null });
  const builder = groups.find(({ group }) => group === "builder");
  expect(builder).toMatchObject({ tokens: null, turns: { completed: 1, failed: 0, error_rate: 0 } });
  const table = await home.run(["stats", "--by", "role"]);
  expect(table.stdout).toMatch(/^ROLE +SESSIONS +TURNS/);
  expect(table.stdout).toMatch(/^builder +1 +1 +0 % .*\?/m);
});

test("an index that is gone is built again by itself, and the answer says so until it is whole", async () => {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(home.dir, `search.db${suffix}`), { force: true });
  await eventually("it is found again", async () => {
    const { found: again, index } = await operatorOf(home).search({ text: "app.ts", kind: "message" });
    if (again.length !== 2) expect(index.note ?? "being built").toContain("being built");
    return again.length === 2;
  });
});
