/** The job of the guide to orchestrating, run as the guide says: as one script, inside a session. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";
import { blocksOf } from "./blocks.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const guide = readFileSync(join(ROOT, "docs", "guide", "orchestrating.md"), "utf8");

let home: TestHome;
let project = "";
beforeAll(() => {
  home = createTestHome();
  project = join(home.dir, "project");
  mkdirSync(project);
});
afterAll(() => home.dispose());

const type = (line: string) =>
  runProgram("sh", ["-c", `cd '${project}' && ${line}`], {
    ...home.environment,
    PATH: `${join(ROOT, "bin")}:${home.environment["PATH"] ?? ""}`,
  });

test("the job: three workers, an answer, a reply, a death, and nothing left", { timeout: 240_000 }, async () => {
  writeFileSync(join(project, "job.sh"), `${blocksOf(guide, "sh").join("\n")}\n`);
  const [start = "", wait = "", show = ""] = blocksOf(guide, "console")
    .flatMap((block) => block.split("\n"))
    .map((line) => line.replace("$ ", ""));
  expect(await type(start)).toMatchObject({ status: 0 });
  const waited = await type(`${wait} --timeout 200`);
  const shown = await type(show);
  expect(waited, shown.stdout).toMatchObject({ status: 0 });
  const inOneLine = shown.stdout.replaceAll(/\s+/g, " ");
  expect(inOneLine).toMatch(/== writer is done .*You said: "Describe the parser"/);
  expect(inOneLine).toMatch(/== tester asks .*make test.*Approved: .*== tester is done I ran "make test"/);
  expect(inOneLine).toMatch(/== migrator died/);
  expect(inOneLine).toMatch(/You said: "And now in one sentence".*all workers are ended/);
  expect(inOneLine).toContain("the item is done");
  for (const name of ["writer", "tester", "migrator", "describer"]) expect(inOneLine).toContain(`${name} is stopped.`);

  const lead = await home.session("lead");
  const answers = (await home.events()).filter(({ type: what }) => what === "approval-answer-requested");
  expect(answers.map(({ caller }) => caller)).toEqual([`session:${lead.session_id}`]);
  const workers = (await home.list())
    .filter(({ name }) => name !== "lead")
    .map(({ name, state, parent_session_id: parent }) => [name, { state, parent }]);
  const isEnded = { state: "stopped", parent: lead.session_id };
  expect(Object.fromEntries(workers)).toEqual({
    writer: isEnded,
    tester: isEnded,
    migrator: isEnded,
    describer: isEnded,
  });
  expect(await type("reeve end lead")).toMatchObject({ status: 0 });
  expect((await home.json<{ sessions: object[] }>("list")).sessions).toEqual([]);
});
