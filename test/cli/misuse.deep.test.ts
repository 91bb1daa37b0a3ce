/**
 * Forty kinds of misuse and more: each is told in one line on stderr that says what to do next, with
 * the right exit code, and changes nothing. The texts are in misuse.golden; `vitest run test/cli/misuse.deep.test.ts -u`
 * writes it anew.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.json("start", "command", "--name", "web", "--", "sleep", "600");
  await home.json("start", "practice", "--name", "helper");
  await home.json("start", "command", "--name", "over", "--", "sleep", "600");
  await home.json("end", "over", "--when", "now", "--grace", "0");
  await eventually("helper is idle", async () => (await home.session("helper"))["activity"] === "idle");
  writeFileSync(join(home.dir, "latin1.txt"), Buffer.from([0x66, 0xfc, 0x72]));
});
afterAll(() => home.dispose());

/** A line as somebody types it; `~` is the test's directory. */
const LINES = [
  // commands
  "lst",
  "frobnicate",
  "rm web",
  "run claude",
  "exec web ls",
  "--verbose",
  // options and values
  "list --al",
  "list -x",
  "list --role",
  "list --state asleep",
  "list --role a --role b",
  "list --watch",
  "list --all=yes",
  "list web",
  "data web --tail ten",
  "data web --tail 0",
  "data web --tail 3.5",
  "data web --lines 0",
  "data web --last --follow",
  "data web --source pictures",
  "wait web --timeout -1",
  "wait web --for luck",
  "wait --any --all web",
  "wait web --role agent",
  "wait web --since -5",
  "events --type turn-complete",
  "events web --session web",
  // arguments
  "data",
  "send web",
  "end",
  "end --all web",
  "end web --cancel --when now",
  "seen",
  "rename web",
  "rename web helper",
  "rename web Web_Server",
  "send web a b",
  // sessions
  "data wbe",
  "data nothing-like-it",
  "data ../etc/passwd",
  "data over --source transcript --since 9 --tail 99999999",
  "attach web",
  "attach over",
  "send over hello",
  "pause over",
  "resume over",
  "approve web",
  "deny helper turn-9",
  "end helper --cancel",
  "messages helper --cancel m-nope",
  "restart nobody",
  // start
  "start",
  "start claud",
  "start command",
  "start command -- no-such-program-at-all",
  "start command --cwd ~/nowhere -- true",
  "start command --name web -- true",
  "start command --name Web -- true",
  "start command --env PATH -- true",
  "start command --env-file ~/none.env -- true",
  "start command --restart sometimes -- true",
  "start command --runtime moon -- true",
  "start command --branch main --cwd ~ -- true",
  "start practice --file ~/none.md",
  "start practice --file ~/latin1.txt",
  "start practice hello --file ~/latin1.txt",
  "start practice --model big",
  "start practice --resume not-an-id",
  "start command --resume 1 -- true",
  "start practice --timeout 5",
  "send helper x --steer --interrupt",
  "send helper x --wait --no-enter",
  "send web x --steer",
  // what the fleet does by itself
  "inbox nxt",
  "inbox answer",
  "inbox answer 99 approve",
  "inbox answer 99 aprove",
  "inbox show 99",
  "inbox next --all",
  "restart-policy web always",
  "restart-policy allways web",
  "start command --restart on-failur -- true",
  "notify tst",
  "rules list --limit 3",
  "worktree remov web",
  "worktree remove web",
  "worktree list --save",
  "start practice --base main",
  "start practice --branch-policy pause",
  // others
  "daemon",
  "daemon sleep",
  "daemon stop --print",
  "daemon status --lines 5",
  "completion tcsh",
  "help frobnicate",
  "list --idempotency-key k",
] as const;

test(
  "each is one line with a next step and the right code, and nothing has changed",
  { timeout: 240_000 },
  async () => {
    const before = await home.list();
    const told: string[] = [];
    for (const line of LINES) {
      const { status, stdout, stderr } = await home.run(line.split(" ").map((word) => word.replace(/^~/, home.dir)));
      const [sentence = "", ...rest] = stderr.trimEnd().split("\n");
      expect.soft({ line, stdout, rest }).toEqual({ line, stdout: "", rest: [] });
      expect.soft({ line, status, isTold: sentence !== "" }).toEqual({
        line,
        status: expect.toBeOneOf([1, 2]),
        isTold: true,
      });
      expect.soft(sentence).not.toMatch(/ at .*:\d+:\d+|went wrong inside|undefined|\[object/);
      told.push(
        `$ reeve ${line}\n${status}: ${sentence.replaceAll(home.dir, "~").replace(/\([a-z0-9]{10}\)/g, "(ID)")}\n`,
      );
    }
    expect(LINES.length).toBeGreaterThanOrEqual(40);
    await expect(told.join("\n")).toMatchFileSnapshot("misuse.golden");
    const after = await home.list();
    expect(after.map(({ name, state, desired }) => [name, state, desired])).toEqual(
      before.map(({ name, state, desired }) => [name, state, desired]),
    );
  },
);
