/** What is over is removed, what is needed stays, and nobody misses an event without being told. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OutputOf } from "../../src/client/operation-types.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
let ended: readonly SessionRow[];
beforeAll(async () => {
  home = createTestHome();
  for (const name of ["first", "second", "third", "busy"])
    await home.json("start", "command", "--name", name, "--", "sleep", "1000");
  await home.json("mail", "send", "first", "you will not read this");
  for (const name of ["first", "second", "third"]) await home.json("end", name, "--when", "now", "--grace", "0");
  ended = (await home.list()).filter(({ desired }) => desired === "stopped");
});
afterAll(() => home.dispose());

type Pruned = OutputOf<"prune">;

test("ended sessions are listed by pages, the newest end first", async () => {
  expect(ended.map(({ name }) => name)).toEqual(["third", "second", "first"]);
  const page = await home.json<{ sessions: SessionRow[]; next_page: string | null }>("list", "--ended", "--limit", "2");
  expect(page.sessions.map(({ name }) => name)).toEqual(["third", "second"]);
  const all = await home.run(["list", "--all", "--limit", "2"]);
  expect(all.stdout).toContain("busy");
  expect(all.stderr).toContain(`There are more that ended: reeve list --ended --page ${page.next_page}`);
  const rest = await home.json<typeof page>("list", "--ended", "--page", page.next_page ?? "");
  expect(rest).toMatchObject({ sessions: [{ name: "first" }], next_page: null });
  expect(await home.json("list")).not.toHaveProperty("next_page");
  expect(await home.run(["list", "--page", "x"])).toMatchObject({ status: 2 });
  expect(await home.run(["list", "--ended", "--page", "x"])).toMatchObject({ status: 2 });
});

test("a dry run says what would go, and what stays and why, and changes nothing", async () => {
  expect((await home.run(["prune"])).stdout).toBe("There was nothing to remove.\n");
  const dry = await home.json<Pruned>("prune", "--dry-run", "--older-than", "0d");
  expect(dry).toMatchObject({
    dry_run: true,
    sessions: [
      { name: "second", why: "age" },
      { name: "third", why: "age" },
    ],
    kept: [{ name: "first", code: "unread-mail" }],
    pruned_through: 0,
  });
  const { stdout } = await home.run(["prune", "--dry-run", "--older-than", "0d"]);
  expect(stdout).toMatch(/^SESSION.*\nsecond.*\nthird.*\n+STAYS.*\nfirst .*It has 1 unread mail: reeve mail --of /);
  expect(stdout).toMatch(/Would remove 2 ended sessions \(.*\) and \d+ events\. Nothing was changed\.\n$/);
  expect((await home.list()).map(({ name }) => name)).toEqual(["busy", "third", "second", "first"]);
  expect(await home.run(["prune", "--older-than", "soon"])).toMatchObject({ status: 2 });
});

test("what goes is gone, and an old cursor is told so", async () => {
  const pruned = await home.json<Pruned>("prune", "--older-than", "0d");
  expect(pruned).toMatchObject({ dry_run: false, session_count: 2, kept_count: 1 });
  expect((await home.list()).map(({ name }) => name)).toEqual(["busy", "first"]);
  for (const { name, outputs_dir: directory } of ended)
    expect(existsSync(String(directory)), name).toBe(name === "first");
  expect((await home.run(["data", "second"])).stderr).toContain('There is no session "second"');

  const { pruned_through: through } = pruned;
  expect(through).toBeGreaterThan(0);
  const read = await home.json<{ events: { seq: number; type: string }[]; pruned_through: number }>("events");
  expect(read.pruned_through).toBe(through);
  // What living sessions need is still there, and the numbers of the others are not given again.
  expect(read.events.some(({ type, seq }) => type === "session-running" && seq < through)).toBe(true);
  expect(read.events.at(-1)).toMatchObject({ type: "pruned", data: { sessions: 2, pruned_through: through } });
  expect((await home.run(["events"])).stderr).toContain(`Events up to ${through} were removed because they were old`);
  const wait = await home.run(["wait", "busy", "--since", "1", "--timeout", "1", "--json"]);
  expect(JSON.parse(wait.stdout)).toMatchObject({
    error: { code: "cursor-too-old", details: { pruned_through: through } },
  });

  const seen: { readonly seq: number; readonly type: string }[] = [];
  for await (const event of operatorOf(home).followEvents({ since: 1 })) {
    seen.push(event);
    if (event.type === "pruned") break;
  }
  expect(seen.filter(({ type }) => type === "events-missed")).toMatchObject([
    { seq: through, data: { since: 1, through } },
  ]);
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).toSorted((one, other) => one - other));
});

test("the next daemon knows what is gone", async () => {
  await home.json("daemon", "restart");
  expect((await home.list()).map(({ name }) => name)).toEqual(["busy", "first"]);
  expect((await home.json<{ pruned_through: number }>("events", "busy")).pruned_through).toBeGreaterThan(0);
  expect((await home.json<{ warnings: string[] }>("daemon", "status")).warnings.join()).not.toContain("state.json");
});
